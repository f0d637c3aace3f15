// What checks compare by. Messages take one line, for reports: bytes and long lists are cut.
import { inspect, isDeepStrictEqual } from 'node:util';

/** Throws unless both are deeply equal. */
export function same(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) throw differs(found, wanted);
}

/** Throws unless the object has these properties, deeply; it may have more. */
export function matches(found: unknown, wanted: object): void {
  if (!includes(found, wanted)) throw differs(found, wanted);
}

/** Throws unless the call rejects with a TypeError, which is what misuse is answered by. */
export async function misused(call: Promise<unknown>): Promise<void> {
  const error: unknown = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof TypeError)) throw differs(error, 'a TypeError');
}

/** Throws unless the call rejects with an error that has these properties. */
export async function rejects(call: Promise<unknown>, wanted: object): Promise<void> {
  const error: unknown = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  matches(error, wanted);
}

function includes(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return Object.is(found, wanted);
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(wanted).every(([name, value]) => includes((found as Record<string, unknown>)[name], value));
}

function differs(found: unknown, wanted: unknown): Error {
  const cause = causeIn(found);
  return new Error(`found ${short(found)}, expected ${short(wanted)}`, cause === undefined ? {} : { cause });
}

/** The reason that an outcome, or one of several, carries. */
function causeIn(found: unknown): unknown {
  const some: readonly unknown[] = Array.isArray(found) ? found : [found];
  return some
    .map((one) => (one as { readonly cause?: unknown } | undefined)?.cause)
    .find((cause) => cause !== undefined);
}

function short(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return inspect(value, { depth: 2, breakLength: Infinity, maxArrayLength: 8, maxStringLength: 80 }).replaceAll(
    '\n',
    ' ',
  );
}
