// Makes the calls by the user's TableClient, with its credential, proxy and telemetry. A policy
// sends each request of the driver once, and does not change the client's others.
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { EntityVersion } from '../../store/contract/driver.ts';
import { ClientCalls } from '../common/under-way.ts';
import { NotSentError } from '../common/driver-outcomes.ts';
import { conditionOf, etagOf, etagsIn, pageIn, type RowWrite, type TableCalls } from './table-calls.ts';
import { checked, FOREIGN, isForeign, isOfService, type Reply, REQUEST_ID } from './table-service.ts';
import { noToken } from './authorization.ts';

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
      sending = { isSent: false, isOver: false, reply: undefined, query: '' };
      sendings.set(signal, sending);
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

/** The part of a request of @azure/core-rest-pipeline that is used here. */
interface PipelineRequest {
  url: string;
  readonly headers: { get(name: string): string | undefined };
  readonly abortSignal?: object | undefined;
  /** Replies with these statuses are handed over before their bodies are read. */
  streamResponseStatusCodes?: Set<number> | undefined;
}

interface PipelineResponse {
  readonly status: number;
  readonly headers: { toJSON(): Record<string, string> };
  bodyAsText?: string | null | undefined;
  readableStreamBody?: Readable | undefined;
}

/** One policy of a pipeline. */
export interface Policy {
  readonly name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- requests and responses are the SDK's own
  sendRequest(request: any, next: (request: any) => Promise<any>): Promise<any>;
}

/** The state of one request, whose reply only the policy sees. */
export interface Sending {
  /** Whether it may have been carried out. */
  isSent: boolean;
  /** Whether it was given up and must not be sent any more. */
  isOver: boolean;
  reply: Reply | undefined;
  /** The query, which holds the shared access signature. */
  query: string;
}

/** Requests by their signals, the only option that the SDK passes on unchanged. */
const sendings = new WeakMap<object, Sending>();

const SENT_ONCE: Policy = {
  name: 'stowageSentOnce',
  async sendRequest(request: PipelineRequest, next: (request: PipelineRequest) => Promise<PipelineResponse>) {
    const sending = sendings.get(request.abortSignal ?? SENT_ONCE);
    return sending === undefined ? next(request) : sendOnce(sending, request, () => next(request));
  },
};

/** Node.js's codes if there was no connection, or its certificate was not accepted. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|CERT_|UNABLE_TO_|ERR_TLS_CERT_|\w+_SELF_SIGNED_CERT|SELF_SIGNED_CERT_)/;
const CONNECTING = /^(connect|getaddrinfo) E/;

/** The SDK takes a `+` in a signature that is not encoded for a space, which base64 never has. */
const SPACES_IN_SIGNATURE = /(?<=[?&]sig=[^&]*)(\+|%20)/g;

/** Hides the SDK's own errors, and statuses of a busy service, as its policies would send again. */
async function sendOnce(
  sending: Sending,
  request: PipelineRequest,
  next: () => Promise<PipelineResponse>,
): Promise<PipelineResponse> {
  const { isOver, isSent, reply } = sending;
  // If the service refused the token, the request had no effect (RFC 9110, 15.5.2).
  const mayBeRepeated = reply?.status === 401 && isOfService(reply);
  if (isOver || (isSent && !mayBeRepeated)) throw new Error('the driver sends no request twice');
  request.url = request.url.replaceAll(SPACES_IN_SIGNATURE, '%2B');
  // Takes each reply as a stream, because only an unread reply allows to close its connection.
  const { streamResponseStatusCodes } = request;
  request.streamResponseStatusCodes = new Set([Infinity]);
  Object.assign(sending, { isSent: true, reply: undefined, query: new URL(request.url).search });
  const response = await next().catch((cause: NodeJS.ErrnoException) => {
    sending.isSent = !(NO_CONNECTION.test(cause.code ?? '') || CONNECTING.test(cause.message));
    throw withoutCode(cause);
  });
  request.streamResponseStatusCodes = streamResponseStatusCodes;
  sending.reply = await replyIn(response, request);
  const { status } = response;
  if (status === 408 || status === 429 || status >= 500) throw new Error(`the service answered ${status}`);
  return response;
}

/** Reads the body; throws for the reply to another request, whose connection it closes. */
async function replyIn(response: PipelineResponse, request: PipelineRequest): Promise<Reply> {
  const headers = response.headers.toJSON();
  const { readableStreamBody: body } = response;
  response.readableStreamBody = undefined;
  if (isForeign(headers[REQUEST_ID], request.headers.get(REQUEST_ID) ?? '')) {
    body?.destroy();
    throw new Error(FOREIGN);
  }
  if (body !== undefined)
    response.bodyAsText = await text(body).catch((cause: Error) => Promise.reject(withoutCode(cause)));
  return { status: response.status, headers, body: response.bodyAsText ?? '' };
}

/** Removes the code by which the SDK's policies would send again. */
function withoutCode(cause: Error): Error {
  return new Error(cause.message, { cause });
}
