// Reads the headers that this API defines, and Cache-Control.
import { Problem } from './problem.ts';

/** A cache may keep an answer for its own caller only, and must ask before each use. */
export const CACHING = {
  'Cache-Control': 'private, no-cache',
  Vary: 'Accept, Accept-Encoding, Authorization',
} as const;

/** Throws `invalid` for an unknown header of this API: ignored, it would seem to work. */
export function refuseUnknownHeaders({ headers }: Request, known: readonly string[]): void {
  const own = known.filter(isOwn);
  const names = own.map((name) => name.toLowerCase());
  const unknown = [...headers.keys()].find((name) => isOwn(name) && !names.includes(name));
  if (unknown === undefined) return;
  throw new Problem('invalid', `unknown header ${unknown.slice(0, 40)}; this route takes ${own.join(', ')}`);
}

function isOwn(header: string): boolean {
  return /^stowage-/i.test(header);
}

/** A whole number from 1 to `max` (at most 2^53 - 1), or undefined if the header is not there. */
export function wholeNumberHeader(request: Request, name: string, max: number): number | undefined {
  const given = request.headers.get(name);
  if (given === null) return undefined;
  const value = /^[1-9]\d{0,15}$/.test(given) ? Number(given) : 0;
  if (value < 1 || value > max) throw new Problem('invalid', `${name} must be a whole number from 1 to ${max}`);
  return value;
}

/** A hundred years, so that every calendar can write the date of an expiry. */
export const TTL_MS_MAX = 100 * 365 * 24 * 3_600_000;

/** `Stowage-Ttl-Ms`: the record expires so many milliseconds after the write. */
export function ttlOf(request: Request): { readonly ttlMs?: number } {
  const ttlMs = wholeNumberHeader(request, 'Stowage-Ttl-Ms', TTL_MS_MAX);
  return ttlMs === undefined ? {} : { ttlMs };
}

/** The age by `Cache-Control: max-age=N`; 0 without it, and with `no-cache`. */
export function maxAgeMsOf(request: Request): number {
  const directives = (request.headers.get('Cache-Control') ?? '').toLowerCase().split(',');
  if (directives.some((directive) => directive.trim() === 'no-cache')) return 0;
  const ages = directives.flatMap((directive) => /^\s*max-age="?(\d{1,9})"?\s*$/.exec(directive)?.[1] ?? []);
  return ages.length === 1 ? Number(ages[0]) * 1_000 : 0;
}
