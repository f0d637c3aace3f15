// Comparisons for checks. A message fits one line of a report, so bytes and long lists are cut.
import { inspect, isDeepStrictEqual } from 'node:util';

/** Throws unless both are deeply equal. */
export function same(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) throw differs(found, wanted);
}

/** Throws unless the object has these properties, deeply; it may have more. */
export function matches(found: unknown, wanted: object): void {
  if (!includes(found, wanted)) throw differs(found, wanted);
}

/** Throws unless the call rejects with a TypeError, as each misuse must. */
export async function misused(call: Promise<unknown>): Promise<void> {
  const error = await errorOf(call);
  if (!(error instanceof TypeError)) throw differs(error, 'a TypeError');
}

/** Throws unless the call rejects with an error that has these properties. */
export async function rejects(call: Promise<unknown>, wanted: object): Promise<void> {
  matches(await errorOf(call), wanted);
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const [ended] = await Promise.allSettled([call]);
  return ended.status === 'rejected' ? ended.reason : undefined;
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
  const causes = [found].flat().map((one) => (one as { readonly cause?: unknown } | undefined)?.cause);
  return causes.find((cause) => cause !== undefined);
}

function short(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = inspect(value, { depth: 2, breakLength: Infinity, maxArrayLength: 8, maxStringLength: 80 });
  return text.replaceAll('\n', ' ');
}
