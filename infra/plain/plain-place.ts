// Plain entities, one per record, as both clouds keep them without this store: what the places of
// both have in common.
import { setTimeout as sleep } from 'node:timers/promises';

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
