// Makes the calls by the user's TableClient, with its credential, proxy and telemetry.
import type { EntityVersion } from '../../store/contract/driver.ts';
import { ClientCalls } from '../common/client-calls.ts';
import { NotSentError } from '../common/driver-outcomes.ts';
import { etagOf, pageIn, type TableCalls } from './table-calls.ts';
import { conditionOf, type RowWrite } from './row-requests.ts';
import { type Policy, type Sending, SENT_ONCE, watch } from './sent-once.ts';
import { checked, type Reply } from './table-service.ts';
import { noToken } from './credential-token.ts';
import { etagsIn } from './transaction.ts';

/** A `TableClient` of @azure/data-tables 13.3 or later, as far as it is used. */
export interface TableClient {
  readonly url: string;
  readonly pipeline: {
    addPolicy(policy: Policy, options: { afterPhase: 'Sign' }): void;
    getOrderedPolicies(): readonly Policy[];
  };
  createTable(options?: object): Promise<unknown>;
  getEntity(partitionKey: string, rowKey: string, options?: object): Promise<object>;
  createEntity(entity: SdkEntity, options?: object): Promise<unknown>;
  updateEntity(entity: SdkEntity, mode?: 'Merge' | 'Replace', options?: object): Promise<unknown>;
  deleteEntity(partitionKey: string, rowKey: string, options?: object): Promise<unknown>;
  submitTransaction(actions: SdkAction[], options?: object): Promise<unknown>;
  listEntities(options?: object): { byPage(settings?: object): AsyncIterableIterator<SdkPage> };
}

interface SdkEntity {
  partitionKey: string;
  rowKey: string;
  [property: string]: unknown;
}

interface SdkPage {
  readonly continuationToken?: string | undefined;
}

type SdkAction = ['create', SdkEntity] | ['update', SdkEntity, 'Merge' | 'Replace', { etag: string }];

/** The options of a call, whose signal tells the policy which call it is. */
interface CallOptions {
  readonly abortSignal: AbortSignal;
}

/** No I/O. Adds a policy to the client's pipeline that changes only the driver's own requests. */
export function sdkCalls(client: TableClient): TableCalls {
  if (!client.pipeline.getOrderedPolicies().includes(SENT_ONCE))
    client.pipeline.addPolicy(SENT_ONCE, { afterPhase: 'Sign' });
  const calls = new ClientCalls();
  const { origin } = new URL(client.url);
  const ask = async <T>(request: Asked, untilMs: number, call: (options: CallOptions) => Promise<T>) => {
    let sending: Sending | undefined;
    const calling = calls.run(untilMs - performance.now(), (signal) => {
      sending = watch(signal);
      return call({ abortSignal: signal });
    });
    const [ended] = await Promise.allSettled([calling]);
    if (sending === undefined) throw reasonOf(ended);
    sending.isOver = true;
    if (sending.reply === undefined) throw withoutReply(ended, sending, origin);
    return { reply: checked(sending.reply, request, sending.query), result: () => valueOf(ended) };
  };
  return {
    async get({ partition, row }, select, untilMs) {
      const query = { disableTypeConversion: true, ...(select === undefined ? {} : { queryOptions: { select } }) };
      const { reply, result } = await ask(READ, untilMs, (options) =>
        client.getEntity(partition, row, { ...options, ...query }),
      );
      return { etag: etagOf(reply), properties: propertiesOf(reply, result()) };
    },
    async write(write, untilMs) {
      const [, entity, mode, condition] = actionOf(write);
      const { reply } = await ask(CHANGE, untilMs, (options) =>
        mode === undefined
          ? client.createEntity(entity, options)
          : client.updateEntity(entity, mode, { ...options, ...condition }),
      );
      return etagOf(reply);
    },
    async delete({ partition, row }, etag, untilMs) {
      const condition = etagIn(etag);
      return ask(CHANGE, untilMs, (options) => client.deleteEntity(partition, row, { ...options, ...condition }));
    },
    async submit(writes, untilMs) {
      const actions = writes.map(actionOf);
      const { reply } = await ask(TRANSACTION, untilMs, (options) => client.submitTransaction(actions, options));
      return etagsIn(reply, writes.length);
    },
    async listPage(filter, count, continuationToken, untilMs) {
      const { reply, result } = await ask(READ, untilMs, async (options) => {
        const rows = client.listEntities({ ...options, queryOptions: { filter, select: ['RowKey'] } });
        return rows.byPage({ maxPageSize: count, continuationToken }).next();
      });
      return { ...pageIn(reply), continuation: result().value?.continuationToken };
    },
    createTable: (untilMs) =>
      ask(CHANGE, untilMs, (options) => client.createTable({ ...options, responsePreference: 'return-no-content' })),
    close: () => calls.close(),
  };
}

type Asked = Parameters<typeof checked>[1];

const READ: Asked = { method: 'GET' };
const CHANGE: Asked = { method: 'PUT' };
const TRANSACTION: Asked = { method: 'POST', success: 202 };

function reasonOf(ended: PromiseSettledResult<unknown>): unknown {
  return ended.status === 'rejected' ? ended.reason : new Error('the client did not ask it');
}

function withoutReply(ended: PromiseSettledResult<unknown>, { isSent }: Sending, origin: string): Error {
  const cause = reasonOf(ended);
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  const error = new Error(`no whole reply from ${origin}: ${message}`, { cause });
  // A policy of the client may have sent the request by another way.
  if (isSent || ended.status === 'fulfilled') return error;
  return new NotSentError(/Credential|Authentication/.test(name) ? noToken(cause) : error);
}

/** Throws if the SDK did not understand the reply. */
function valueOf<T>(ended: PromiseSettledResult<T>): T {
  if (ended.status === 'rejected') throw ended.reason;
  return ended.value;
}

/** A write as an action of a transaction. Throws a TypeError for a change without an etag. */
function actionOf({ partition, row, properties, change }: RowWrite): SdkAction {
  const entity: SdkEntity = { partitionKey: partition, rowKey: row };
  for (const name in properties) entity[name] = { value: properties[name]!.join(''), type: 'Binary' };
  return change === undefined ? ['create', entity] : ['update', entity, change.mode, etagIn(change.etag)];
}

function etagIn(etag: EntityVersion): { etag: string } {
  conditionOf(etag);
  return { etag };
}

/** Base64 by name. Checks the body, because the SDK takes even a list for an entity. */
function propertiesOf({ body }: Reply, entity: object): Readonly<Record<string, unknown>> {
  if (!/^\s*\{/.test(body.toString()))
    throw new Error('the reply was not from azure tables: look for a proxy on the way');
  return Object.fromEntries(
    Object.entries(entity).map(([name, typed]: [string, { readonly value?: unknown } | null]) => [name, typed?.value]),
  );
}
