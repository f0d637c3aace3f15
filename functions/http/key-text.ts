// The text of a configured app key: `KEY`, `NAME=KEY`, or with limits
// `NAME(tables=orders-*;until=2027-01-31)=KEY`.

export interface KeyText {
  /** The secret, as callers send it. */
  readonly key: string;
  readonly name: string | undefined;
  /** The one table it opens; with `*` at the end, all tables that begin so. Default: all. */
  readonly tables: string | undefined;
  /** Refused from this moment on, in milliseconds since 1970: the end of the day `until`, UTC. */
  readonly endsMs: number | undefined;
}

/** A sign with fewer than 16 characters behind it belongs to the key itself. */
const FORM = /^(?:([a-z0-9-]{1,32})(?:\(([^)]*)\))?=(?=.{16}))?(.+)$/s;

/** One limit, or both with `;` between them. */
const LIMITS = /^(?=.)(?:tables=([\w.-]{1,63}\*?|\*)(?:;(?=.)|$))?(?:until=(\d{4}-\d\d-\d\d))?$/;

/** Brackets behind a name hold limits. Taken for a part of the key, they would limit nothing. */
const BRACKETS = /^[\w.-]*\(/;

const DAY_MS = 24 * 3_600_000;

/** Undefined if the text has brackets that hold something else. */
export function keyText(text: string): KeyText | undefined {
  const [, name, limits, key = ''] = FORM.exec(text) ?? [];
  const found = limits === undefined ? [] : LIMITS.exec(limits);
  if (found === null || BRACKETS.test(key)) return undefined;
  const [, tables, until] = found;
  const endsMs = until === undefined ? undefined : endOf(until);
  if (Number.isNaN(endsMs)) return undefined;
  return { key, name, tables, endsMs };
}

/** NaN for a day that no calendar has. */
function endOf(day: string): number {
  const startMs = Date.parse(`${day}T00:00:00Z`);
  return new Date(Number.isNaN(startMs) ? 0 : startMs).toISOString().startsWith(day) ? startMs + DAY_MS : NaN;
}
