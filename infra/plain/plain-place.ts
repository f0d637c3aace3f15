// Plain entities, one per record, as both clouds keep them without this store: what the places of
// both have in common. What a value of JavaScript cannot show of an entity is noted in one property
// of its record: the types of numbers and texts, which properties no index holds, an unusual key.
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

/** The properties of an entity as the value of a record, in order of name. */
export type PlainValue = Readonly<Record<string, unknown>>;

export interface PlainRecord {
  readonly key: string;
  readonly value: PlainValue;
}

export interface PlainPage {
  readonly records: readonly PlainRecord[];
  /** Where the next page begins; undefined after the last. */
  readonly cursor: string | undefined;
}

/** A kind of Datastore, or a table of Azure. Errors are the SDK's, or say which entity is wrong. */
export interface PlainPlace {
  /** One request for each page, of some hundred entities and a few MiB. */
  pages(cursor: string | undefined, signal: AbortSignal): AsyncGenerator<PlainPage, void>;
  /** Writes over what is there, in requests of some hundred entities, fewer if they are large. */
  put(records: readonly PlainRecord[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Which entities are read, and which keys their records get. */
export interface PlainOptions {
  /** The records' keys: text with names of properties in braces; undefined: the place's own. */
  readonly key: string | undefined;
  /** A condition in the service's own language: GQL after WHERE, or OData. */
  readonly where: string | undefined;
}

/** An entity cannot become a record, or a record no entity of this service. */
export class PlainError extends Error {
  override readonly name = 'PlainError';
}

/** The property's name, which no property of an entity may have. */
const SIDE = '$plain';

/** A type that the value alone does not tell: without one, a whole number is an integer. */
const type = z.enum(['double', 'int64', 'timestamp', 'guid', 'key', 'geoPoint', 'entity']);
export type SideType = z.infer<typeof type>;

const side = z.strictObject({
  /** By property, in a list by the element's index. */
  types: z.record(z.string(), z.union([type, z.record(z.string(), type)])).optional(),
  /** Properties that no index holds; of a list all elements, or those at these indexes. */
  unindexed: z.record(z.string(), z.union([z.literal(true), z.array(z.int())])).optional(),
  /** The entity's key, if it cannot be told from the record's. */
  key: z.array(z.union([z.string(), z.int(), z.bigint()])).optional(),
});
export type Side = z.infer<typeof side>;

export interface Taken {
  readonly value: unknown;
  readonly type?: SideType | Readonly<Record<string, SideType>> | undefined;
  readonly unindexed?: true | readonly number[] | undefined;
}

/** A double, whose type is noted if it is whole: it would be taken for an integer. */
export function takenDouble(value: number): Taken {
  return { value, type: Number.isInteger(value) ? 'double' : undefined };
}

/** The value of a record, its properties in order of name: equal entities become equal records. */
export function valueOf(taken: Iterable<readonly [name: string, Taken]>, key?: Side['key']): PlainValue {
  const value: Record<string, unknown> = {};
  const types: NonNullable<Side['types']> = {};
  const unindexed: NonNullable<Side['unindexed']> = {};
  for (const [name, one] of [...taken].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (name === SIDE) throw new PlainError(`it has a property ${SIDE}, which a record uses itself: rename it`);
    Object.defineProperty(value, name, { value: one.value, enumerable: true, configurable: true, writable: true });
    if (one.type !== undefined) types[name] = one.type;
    if (one.unindexed !== undefined) unindexed[name] = one.unindexed as true | number[];
  }
  const beside: Side = {
    ...(Object.keys(types).length > 0 && { types }),
    ...(Object.keys(unindexed).length > 0 && { unindexed }),
    ...(key !== undefined && { key }),
  };
  return Object.keys(beside).length === 0 ? value : { ...value, [SIDE]: beside };
}

/** A record's properties, and what is noted beside them. Throws a PlainError. */
export function takenApart(value: unknown): {
  readonly properties: readonly (readonly [string, unknown])[];
  readonly side: Side;
} {
  if (typeof value !== 'object' || value === null || !isPlainObject(value))
    throw new PlainError('its value is no object, and an entity has properties: it cannot be one');
  const { [SIDE]: noted, ...properties } = value as PlainValue;
  const parsed = side.safeParse(noted ?? {});
  if (!parsed.success) throw new PlainError(`its ${SIDE} is not as adopt writes it: ${z.prettifyError(parsed.error)}`);
  return { properties: Object.entries(properties).filter(([, one]) => one !== undefined), side: parsed.data };
}

/** The entity's own key, if the record's does not tell it. */
export function notedKey(value: PlainValue): Side['key'] {
  return (value as { readonly [SIDE]?: Side })[SIDE]?.key;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Runs `work` on an entity, a record or a property. A PlainError then begins with its name. */
export function about<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    throw new PlainError(`${name}: ${error.message}`, { cause: error });
  }
}

const DATE_MS_MOST = 8_640_000_000_000_000;
const NANOS_PER_MS = 1_000_000;

export interface Instant {
  readonly seconds: bigint;
  /** 0 to 999,999,999. */
  readonly nanos: number;
}

/** A Date, or a text of RFC 3339 if a Date would round it. */
export function takenInstant({ seconds, nanos }: Instant): Taken {
  const wholeMs = Number(seconds) * 1_000 + Math.floor(nanos / NANOS_PER_MS);
  if (nanos % NANOS_PER_MS === 0 && Math.abs(wholeMs) <= DATE_MS_MOST) return { value: new Date(wholeMs) };
  const fraction = String(nanos).padStart(9, '0').replace(/0+$/, '');
  const text = new Date(Number(seconds) * 1_000).toISOString().replace(/\.\d+Z$/, `.${fraction}Z`);
  return { value: text, type: 'timestamp' };
}

/** Throws a PlainError. */
export function instantOf(value: unknown): Instant {
  if (value instanceof Date && Number.isFinite(value.getTime())) {
    const seconds = Math.floor(value.getTime() / 1_000);
    return { seconds: BigInt(seconds), nanos: (value.getTime() - seconds * 1_000) * NANOS_PER_MS };
  }
  const found = typeof value === 'string' ? /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(value) : null;
  const wholeMs = found === null ? NaN : Date.parse(`${found[1]}Z`);
  if (!Number.isFinite(wholeMs))
    throw new PlainError(`${String(value)} is no moment such as 2026-01-31T12:00:00.123456Z`);
  const nanos = Number((found?.[2] ?? '').padEnd(9, '0'));
  return { seconds: BigInt(wholeMs / 1_000), nanos };
}

/**
 * Reads a template of keys, such as `{tenant}/{id}`, which takes properties of an entity, object or
 * row. Throws a PlainError for a template without a placeholder, or with a lone brace.
 */
export function keyTemplate(template: string): (partOf: (name: string) => unknown) => string {
  const pieces = template.split(/\{([^{}]+)\}/);
  if (pieces.length < 3 || pieces.some((piece, index) => index % 2 === 0 && /[{}]/.test(piece)))
    throw new PlainError(
      `${JSON.stringify(template)} is no template of keys: give text with names in braces, as {tenant}/{id}`,
    );
  return (partOf) => pieces.map((piece, index) => (index % 2 === 0 ? piece : keyPart(piece, partOf(piece)))).join('');
}

/** A property as text in a key. Throws a PlainError for one of another type. */
export function keyPart(name: string, part: unknown): string {
  if (typeof part === 'string') return part;
  if (typeof part === 'bigint' || typeof part === 'boolean' || Number.isSafeInteger(part)) return String(part);
  throw new PlainError(`its property ${name}, which the key is made of, is no text, whole number or boolean`);
}

const TRIES_MAX = 8;
const PAUSE_FIRST_MS = 200;

/** Sends a request again after a transient failure. Throws other errors at once, else the last. */
export async function withTries<T>(
  send: () => Promise<T>,
  signal: AbortSignal,
  isTransient: (error: unknown) => boolean,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await send();
    } catch (error) {
      if (tries === TRIES_MAX || !isTransient(error)) throw error;
      await sleep(PAUSE_FIRST_MS * 2 ** (tries - 1), undefined, { signal });
    }
  }
}

/** Lists of at most `itemsMax`, and of at most `bytesMax` unless one item alone has more. */
export function* requestsOf<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  { itemsMax, bytesMax }: { readonly itemsMax: number; readonly bytesMax: number },
): Generator<Item[]> {
  let some: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (some.length === itemsMax || (some.length > 0 && bytes + size > bytesMax)) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(item);
    bytes += size;
  }
  if (some.length > 0) yield some;
}
