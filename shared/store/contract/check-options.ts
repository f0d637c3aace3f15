// Checks the options of every call. An unknown option or a wrong type is a TypeError that names the
// right ones. A senseless value of the right type is refused where it is used.
import type {
  CallOptions,
  DeleteItem,
  DeleteOptions,
  GetManyOptions,
  GetOptions,
  PutItem,
  PutOptions,
  RangeOptions,
  ScanOptions,
  StoreOptions,
  TableOptions,
  TouchOptions,
  UpdateOptions,
} from './options.ts';
import type { InspectOptions, RepairOptions, VacuumOptions, VerifyOptions } from './admin.ts';
import type { UpdateItem } from './results.ts';

export interface Kind {
  /** Completes the message "must be ...". */
  readonly name: string;
  /**
   * Whether messages repeat a wrong string, up to a question mark, after which secrets may stand.
   */
  readonly isShown?: true;
  accepts(value: unknown): boolean;
}

/** Throws a TypeError for wrong options. `index`: of an item in a batch. */
type CheckOptions = (given: unknown, index?: number) => void;

const ANYTHING: Kind = { name: 'anything', accepts: () => true };
const NUMBER: Kind = { name: 'a number', accepts: (value) => typeof value === 'number' };
const SIGNAL = objectWith('an AbortSignal', 'addEventListener', 'removeEventListener');
export const STRING: Kind = { name: 'a string', accepts: isText };
export const BOOLEAN: Kind = { name: 'true or false', accepts: (value) => typeof value === 'boolean' };
export const FUNCTION: Kind = { name: 'a function', accepts: (value) => typeof value === 'function' };
export const ARRAY: Kind = { name: 'an array', accepts: (value) => Array.isArray(value) };
export const SOURCE: Kind = { name: 'an array or an async iterable', accepts: (value) => Array.isArray(value) };
export const OBJECT: Kind = { name: 'an object', accepts: isObject };

/** An object with these methods. */
export function objectWith(name: string, ...methods: readonly string[]): Kind {
  return {
    name,
    accepts: (value) => isObject(value) && methods.every((method) => typeof value[method] === 'function'),
  };
}

const SCHEMA: Kind = {
  name: 'a Standard Schema, such as zod makes',
  accepts: (value) => {
    // ArkType's schemas are functions.
    const { version, validate } = Object(Object(value)['~standard']) as Record<string, unknown>;
    return version === 1 && typeof validate === 'function';
  },
};

function oneOf(...words: readonly string[]): Kind {
  return { name: `one of ${words.join(', ')}`, isShown: true, accepts: (value) => words.includes(value as string) };
}

const CALL = { timeoutMs: NUMBER, signal: SIGNAL };
const DRIVER = objectWith('a driver, such as memoryDriver() makes', 'read', 'write', 'remove', 'list', 'close');
const CLOCKS = ['wallMs', 'monotonicMs', 'sleep', 'watch', 'busyShare', 'random'];
const EXPIRY = { ttlMs: NUMBER, expiresAtMs: NUMBER };
const RANGE = { prefix: STRING, from: STRING, after: STRING, to: STRING, through: STRING };
const PUT = { ifVersion: STRING, ifAbsent: BOOLEAN, ...EXPIRY };
const ITEM = { key: STRING, value: ANYTHING, ...PUT };
const BATCH_ITEM = { ...ITEM, delete: BOOLEAN };
const UPDATE = { key: STRING, change: FUNCTION, ttlMs: NUMBER };
const GET = { maxAgeMs: NUMBER, ...CALL };
const SCAN = { ...RANGE, reverse: BOOLEAN, limit: NUMBER, cursor: STRING, ...CALL };

type LooseItem = PutItem<unknown> & { delete?: boolean };

export const CHECK = {
  openStore: optionsOf<StoreOptions>(
    'openStore',
    {
      driver: DRIVER,
      cacheBytesMax: NUMBER,
      timeoutMs: NUMBER,
      compression: oneOf('zstd', 'none'),
      runtime: objectWith('a Runtime, such as systemRuntime', ...CLOCKS),
    },
    ['driver'],
  ),
  table: optionsOf<TableOptions>('store.table', {
    order: oneOf('hash', 'key'),
    groupBy: STRING,
    containers: NUMBER,
    codec: oneOf('msgpack', 'json', 'bytes', 'encoded'),
    schema: SCHEMA,
    ttlMs: NUMBER,
    containerBytesMax: NUMBER,
    create: BOOLEAN,
    ...CALL,
  }),
  tables: optionsOf<CallOptions>('store.tables', CALL),
  drop: optionsOf<CallOptions>('store.drop', CALL),
  vacuum: optionsOf<VacuumOptions>('store.vacuum', {
    quietMs: NUMBER,
    containerBytesMax: NUMBER,
    cursor: STRING,
    onProgress: FUNCTION,
    ...CALL,
  }),
  verify: optionsOf<VerifyOptions>('store.verify', { onFinding: FUNCTION, ...CALL }),
  inspect: optionsOf<InspectOptions>('store.inspect', { container: STRING, key: STRING, ...CALL }),
  repair: optionsOf<RepairOptions>('store.repair', { save: FUNCTION, dryRun: BOOLEAN, ...CALL }, ['save']),
  has: optionsOf<GetOptions>('table.has', GET),
  get: optionsOf<GetOptions>('table.get', GET),
  getMany: optionsOf<GetManyOptions>('table.getMany', { bytesMax: NUMBER, ...GET }),
  put: optionsOf<PutOptions>('table.put', { ...PUT, ...CALL }),
  putMany: optionsOf<CallOptions>('table.putMany', CALL),
  putItem: optionsOf<PutItem<unknown>>('table.putMany', ITEM, ['key']),
  update: optionsOf<UpdateOptions>('table.update', { ttlMs: NUMBER, ...CALL }),
  updateMany: optionsOf<CallOptions>('table.updateMany', CALL),
  updateItem: optionsOf<UpdateItem<unknown>>('table.updateMany', UPDATE, ['key', 'change']),
  touch: optionsOf<TouchOptions>('table.touch', { ...EXPIRY, ...CALL }),
  delete: optionsOf<DeleteOptions>('table.delete', { ifVersion: STRING, ...CALL }),
  deleteMany: optionsOf<CallOptions>('table.deleteMany', CALL),
  deleteItem: orString(optionsOf<DeleteItem>('table.deleteMany', { key: STRING, ifVersion: STRING }, ['key'])),
  batch: optionsOf<CallOptions>('table.batch', CALL),
  batchItem: optionsOf<LooseItem>('table.batch', BATCH_ITEM, ['key']),
  checkedItem: optionsOf<LooseItem>('table.check', BATCH_ITEM, ['key']),
  partitions: optionsOf<CallOptions>('table.partitions', CALL),
  scan: optionsOf<ScanOptions>('table.scan', SCAN),
  keys: optionsOf<ScanOptions>('table.keys', SCAN),
  count: optionsOf<RangeOptions>('table.count', { ...RANGE, ...CALL }),
  clear: optionsOf<RangeOptions>('table.clear', { ...RANGE, ...CALL }),
};

/** Makes the check of a call's options. An undefined option counts as left out. */
export function optionsOf<Options extends object>(
  call: string,
  kinds: Readonly<Record<keyof Options & string, Kind>>,
  required: readonly (keyof Options & string)[] = [],
): CheckOptions {
  const kindOf = new Map<string, Kind>(Object.entries(kinds));
  return (given, index) => {
    if (given === undefined && required.length === 0) return;
    const where = (): string => (index === undefined ? call : `item ${index} of ${call}`);
    if (!isObject(given))
      throw new TypeError(`${where()} takes an object of ${[...kindOf.keys()].join(', ')}, not ${described(given)}`);
    for (const name of Object.keys(given)) {
      const kind = kindOf.get(name);
      if (kind === undefined) throw unknownOption(where(), name, [...kindOf.keys()]);
      const value = given[name];
      if (value !== undefined && !kind.accepts(value)) throw wrongKind(where(), name, kind, value);
    }
    for (const name of required) {
      if (given[name] === undefined)
        throw new TypeError(`${where()} needs ${name}: it must be ${kindOf.get(name)?.name}`);
    }
  };
}

export function checkItems(call: string, items: unknown, check: CheckOptions, kind = ARRAY): void {
  checkArgument(call, 'items', kind, items);
  const all = items as unknown[];
  for (let index = 0; index < all.length; index += 1) check(all[index], index);
}

export function checkArgument(call: string, name: string, kind: Kind, value: unknown): void {
  if (!kind.accepts(value)) throw wrongKind(call, name, kind, value);
}

function orString(check: CheckOptions): CheckOptions {
  return (given, index) => {
    if (typeof given !== 'string') check(given, index);
  };
}

function wrongKind(where: string, name: string, kind: Kind, value: unknown): TypeError {
  const given = kind.isShown === true && isText(value) ? JSON.stringify(value.split('?', 1)[0]) : described(value);
  return new TypeError(`${where}: ${name} must be ${kind.name}, not ${given}`);
}

function unknownOption(where: string, name: string, names: readonly string[]): TypeError {
  const near = nearest(name, names);
  const hint = near === undefined ? '' : ` did you mean ${near}?`;
  return new TypeError(`${where} has no option ${JSON.stringify(name)}:${hint} it takes ${names.join(', ')}`);
}

/** The name that shares the longest beginning, of at least two letters. */
function nearest(mistyped: string, names: readonly string[]): string | undefined {
  for (let length = mistyped.length; length >= 2; length -= 1) {
    const beginning = mistyped.slice(0, length).toLowerCase();
    const near = names.find((name) => name.toLowerCase().startsWith(beginning));
    if (near !== undefined) return near;
  }
  return undefined;
}

/** Names only the type, as the content may be a secret. */
function described(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
