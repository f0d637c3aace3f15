// A provider for the real Terraform over its own protocol (TF_REATTACH_PROVIDERS). It knows a
// cloud's schemas, and keeps applied resources if a test gives it a cloud.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { addExtension, Packr } from 'msgpackr';
import { type AttributeType, attributesOf, type Block, nestedIn, type ProviderSchema } from '../schemas/schema.ts';

export type Value = string | number | boolean | null | undefined | Value[] | { [name: string]: Value };
export type Values = { [name: string]: Value };

/** An attribute that is text; empty if it is not. */
export function textOf(values: Readonly<Values>, name: string): string {
  const value = values[name];
  return typeof value === 'string' ? value : '';
}

/** The effects of one apply. */
export interface Applied {
  readonly type: string;
  readonly action: 'create' | 'update' | 'delete';
  readonly values: Readonly<Values>;
  /** The configuration, write-only attributes included. */
  readonly config: Readonly<Values>;
}

/** Gives what the cloud would answer for a computed attribute; undefined: anything will do. */
export type Computed = (type: string, attribute: string, values: Readonly<Values>) => Value;

/**
 * A cloud that keeps resources, for tests in which it matters what is there. Its methods throw a
 * Refusal where the real API refuses.
 */
export interface Cloud {
  /** The provider starts, for a plan as for an apply. */
  configure(config: Readonly<Values>): void;
  /** Attributes whose change makes another resource. */
  replacedBy(type: string, before: Readonly<Values>, after: Readonly<Values>): readonly string[];
  /** Creates (`before` is null) or updates. `config` has the write-only attributes too. */
  put(type: string, before: Readonly<Values> | null, after: Readonly<Values>, config: Readonly<Values>): void;
  remove(type: string, values: Readonly<Values>): void;
  /** The present values; null if the resource is gone. */
  read(type: string, values: Readonly<Values>): Values | null;
}

/** An API's refusal. */
export class Refusal extends Error {
  /** The resource is there all the same, in a state of failure. */
  readonly isMade: boolean;

  constructor(message: string, { isMade = false } = {}) {
    super(message);
    this.isMade = isMade;
  }
}

const PROTO = fileURLToPath(new URL('tfplugin5.proto', import.meta.url));
/** Attributes by which the clouds know a thing: another one is another thing. */
const IDENTIFYING = new Set(['name', 'secret_id', 'account_id', 'bucket']);

// In MessagePack, Terraform's unknown values are extensions: plain ones are what msgpackr takes for
// undefined, refined ones are 12.
addExtension({ type: 12, unpack: () => undefined });
const packr = new Packr({ useRecords: false, mapsAsObjects: true });

export async function startStandInProvider(schema: ProviderSchema, computed: Computed, cloud: Cloud = NO_CLOUD) {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-tf-'));
  const socket = path.join(folder, 'provider.sock');
  const applied: Applied[] = [];
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  const definition = loadSync(PROTO, { keepCase: true, longs: Number });
  server.addService(
    definition['tfplugin5.Provider'] as ServiceDefinition,
    answering(handlersOf({ schema, computed, cloud, applied })),
  );
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return {
    /** Every change applied so far, in order. */
    applied,
    /** For TF_REATTACH_PROVIDERS. */
    reattach: {
      [`hashicorp/${schema.provider}`]: {
        Protocol: 'grpc',
        ProtocolVersion: 5,
        Pid: process.pid,
        Test: true,
        Addr: { Network: 'unix', String: socket },
      },
    },
    async close() {
      server.forceShutdown();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Dynamic {
  readonly msgpack: Buffer;
}

interface Request {
  readonly type_name: string;
  readonly config: Dynamic;
  readonly prior_state: Dynamic;
  readonly proposed_new_state: Dynamic;
  readonly planned_state: Dynamic;
  readonly current_state: Dynamic;
  readonly raw_state: { readonly json: Buffer };
}

type Handlers = Record<string, (request: Request) => object>;

interface Provider {
  readonly schema: ProviderSchema;
  readonly computed: Computed;
  readonly cloud: Cloud;
  readonly applied: Applied[];
}

/** Takes everything and keeps nothing. */
const NO_CLOUD: Cloud = {
  configure: () => {},
  replacedBy: (_, before, after) =>
    Object.keys(after).filter((name) => IDENTIFYING.has(name) && after[name] !== before[name]),
  put: () => {},
  remove: () => {},
  read: (_, values) => values,
};

function handlersOf({ schema, computed, cloud, applied }: Provider): Handlers {
  const blockOf = (type: string): Block => schema.resources[type]!;
  return {
    GetSchema: () => ({
      provider: { block: wireBlock(schema.configuration, false) },
      resource_schemas: mapValues(schema.resources, (block) => ({ block: wireBlock(block, true) })),
      data_source_schemas: mapValues(schema.data, (block) => ({ block: wireBlock(block, true) })),
    }),
    PrepareProviderConfig: ({ config }) => ({ prepared_config: config }),
    ValidateResourceTypeConfig: () => ({}),
    ValidateDataSourceConfig: () => ({}),
    Configure: ({ config }) => {
      cloud.configure(decode(config)!);
      return {};
    },
    Stop: () => ({}),
    UpgradeResourceState: ({ raw_state: state }) => ({
      upgraded_state: encode(JSON.parse(state.json.toString()) as Value),
    }),
    ReadResource: ({ type_name: type, current_state: state }) =>
      unlessRefused(state, () => ({ new_state: encode(cloud.read(type, decode(state)!)) })),
    ReadDataSource: ({ type_name: type, config }) => ({
      state: encode(
        settled(type, schema.data[type]!, unknownWhereComputed(schema.data[type]!, decode(config)!), computed),
      ),
    }),
    PlanResourceChange({ type_name: type, prior_state: prior, proposed_new_state: proposed }) {
      const before = decode(prior);
      const after = decode(proposed);
      if (after === null) return { planned_state: proposed };
      const replaced = before === null ? [] : cloud.replacedBy(type, before, after);
      return {
        planned_state: encode(before === null ? unknownWhereComputed(blockOf(type), after) : withoutWriteOnly(after)),
        requires_replace: replaced.map((name) => ({ steps: [{ attribute_name: name }] })),
      };
    },
    ApplyResourceChange({ type_name: type, prior_state: prior, planned_state: planned, config }) {
      const before = decode(prior);
      const after = decode(planned);
      if (after === null)
        return unlessRefused(prior, () => {
          cloud.remove(type, before!);
          applied.push({ type, action: 'delete', values: before!, config: {} });
          return { new_state: planned };
        });
      const values = settled(type, blockOf(type), after, computed);
      return unlessRefused(
        prior,
        () => {
          cloud.put(type, before, values, decode(config)!);
          applied.push({ type, action: before === null ? 'create' : 'update', values, config: decode(config)! });
          return { new_state: encode(values) };
        },
        encode(values),
      );
    },
  };
}

/** A refusal becomes a diagnostic, and what was there stays; or what was made, if it was. */
function unlessRefused(prior: Dynamic, act: () => object, made: Dynamic = prior): object {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const diagnostics = [{ severity: 'ERROR', summary: error.message, detail: '' }];
    return { new_state: error.isMade ? made : prior, diagnostics };
  }
}

function answering(
  handlers: Handlers,
): Record<string, (call: ServerUnaryCall<Request, object>, done: sendUnaryData<object>) => void> {
  return mapValues(handlers, (handler) => (call: ServerUnaryCall<Request, object>, done: sendUnaryData<object>) => {
    try {
      done(null, handler(call.request));
    } catch (error) {
      done(error as Error);
    }
  });
}

function wireBlock(block: Block, isWhole: boolean): object {
  return {
    attributes: attributesOf(block).map(([name, [type, use]]) => ({
      name,
      type: Buffer.from(JSON.stringify(type)),
      required: use === 'required',
      // A resource's own `id` may be said by nobody, whatever the bindings offer.
      optional: use === 'optional' && !(isWhole && name === 'id'),
      computed: use === 'computed' || (isWhole && name === 'id'),
      write_only: name.endsWith('_wo'),
    })),
    block_types: nestedIn(block).map(([name, nested]) => ({
      type_name: name,
      block: wireBlock(nested.block, false),
      nesting: 'LIST',
      min_items: nested.use === 'required' ? 1 : 0,
      max_items: nested.many === true ? 0 : 1,
    })),
  };
}

/** Computed values are unknown until the cloud has answered. */
function unknownWhereComputed(block: Block, values: Values): Values {
  return transformed(block, values, (name, use, value) =>
    name.endsWith('_wo') ? null : isFilledIn(name, use) && value === null ? undefined : value,
  );
}

function withoutWriteOnly(values: Values): Values {
  return mapValues(values, (value, name) => (name.endsWith('_wo') ? null : value));
}

/** Nothing is unknown after an apply. */
function settled(type: string, block: Block, values: Values, computed: Computed): Values {
  return transformed(block, values, (name, use, value, attributeType) => {
    if (value !== undefined) return value;
    const answer = isFilledIn(name, use) ? computed(type, name, values) : undefined;
    if (answer !== undefined) return answer;
    if (attributeType === 'number') return 1;
    if (attributeType === 'bool') return false;
    if (attributeType !== 'string') return attributeType[0] === 'list' ? [] : {};
    return `${type}.${typeof values['name'] === 'string' ? values['name'] : ''}.${name}`;
  });
}

function isFilledIn(name: string, use: string): boolean {
  return use === 'computed' || name === 'id';
}

function transformed(
  block: Block,
  values: Values,
  change: (name: string, use: string, value: Value, type: AttributeType) => Value,
): Values {
  return mapValues(values, (value, name) => {
    const known = block[name];
    if (known === undefined) return value;
    if (!('block' in known)) return change(name, known[1], value, known[0]);
    return Array.isArray(value) ? value.map((one) => transformed(known.block, one as Values, change)) : value;
  });
}

function encode(value: Value): Dynamic {
  return { msgpack: packr.pack(value) };
}

function decode({ msgpack }: Dynamic): Values | null {
  return packr.unpack(msgpack) as Values | null;
}

/** The object with each value changed. */
export function mapValues<In, Out>(
  object: Readonly<Record<string, In>>,
  change: (value: In, name: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}
