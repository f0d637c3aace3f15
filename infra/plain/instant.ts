// Moments as Dates, or as texts if they are finer than milliseconds.
import { PlainError } from './plain-place.ts';
import type { Taken } from './side.ts';

const DATE_MS_MOST = 8_640_000_000_000_000;
const NANOS_PER_MS = 1_000_000;
const NANOS_PER_S = 1_000_000_000;

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
  return { seconds: BigInt(wholeMs / 1_000), nanos: nanos % NANOS_PER_S };
}
