// Reads the headers that this API defines, Cache-Control, and If-Match and If-None-Match (RFC 9110,
// 13.1, 13.2). A converted form's tag ends with its name.
import type { Codec } from './content.ts';
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

interface Tag {
  readonly weak: boolean;
  /** The text between the quotes. */
  readonly text: string;
}

type TagList = '*' | readonly Tag[];

/** Both headers, parsed. Undefined: the request has no such header. */
export interface Conditions {
  readonly ifMatch: TagList | undefined;
  readonly ifNoneMatch: TagList | undefined;
}

/** Throws the Problem `malformed` for a header that is neither `*` nor a list of quoted tags. */
export function conditionsOf(request: Request): Conditions {
  return { ifMatch: tagsOf(request, 'If-Match'), ifNoneMatch: tagsOf(request, 'If-None-Match') };
}

/** Judges If-Match of a read, where only the tag of the same form counts. Weak tags never match. */
export function isExpected({ ifMatch }: Conditions, tag: string): boolean {
  return ifMatch === undefined || ifMatch === '*' || ifMatch.some(({ weak, text }) => !weak && `"${text}"` === tag);
}

/**
 * Judges conditions of a write that the store cannot judge. An undefined version means no record.
 * Weak tags match in If-None-Match, but never in If-Match.
 */
export function passes({ ifMatch, ifNoneMatch }: Conditions, version: string | undefined): boolean {
  if (version === undefined) return ifMatch === undefined;
  const names = (tag: Tag): boolean => versionOf(tag) === version;
  const isMatched = ifMatch === undefined || ifMatch === '*' || ifMatch.some((tag) => !tag.weak && names(tag));
  return isMatched && ifNoneMatch !== '*' && ifNoneMatch?.some(names) !== true;
}

/** Whether the caller has the record in this form. */
export function isKnown({ ifNoneMatch }: Conditions, tag: string): boolean {
  return ifNoneMatch === '*' || (ifNoneMatch ?? []).some(({ text }) => `"${text}"` === tag);
}

/** A condition that the store judges within the write, without a read. */
export type Guard = { readonly ifVersion: string } | { readonly ifAbsent: true } | Record<string, never>;

/** The conditions as the store can judge them; undefined if that takes a read. */
export function guardOf({ ifMatch, ifNoneMatch }: Conditions): Guard | undefined {
  if (ifMatch === undefined && ifNoneMatch === undefined) return {};
  if (ifMatch === undefined && ifNoneMatch === '*') return { ifAbsent: true };
  if (ifNoneMatch === undefined && ifMatch !== '*' && ifMatch?.length === 1 && !ifMatch[0]!.weak)
    return { ifVersion: versionOf(ifMatch[0]!) };
  return undefined;
}

/** `convertedTo`: the form, if it is not the stored one. */
export function entityTag(version: string, convertedTo?: Codec): string {
  return convertedTo === undefined ? `"${version}"` : `"${version}.${convertedTo}"`;
}

/** The version in the tag of any form. A version has no dot. */
function versionOf({ text }: Tag): string {
  return text.replace(/\.(?:json|msgpack)$/, '');
}

const TAG = /^\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/;
const EMPTY_ITEM = /^\s*,/;

function tagsOf(request: Request, name: 'If-Match' | 'If-None-Match'): TagList | undefined {
  const header = request.headers.get(name);
  if (header === null) return undefined;
  if (header.trim() === '*') return '*';
  const tags: Tag[] = [];
  let rest = header;
  while (rest.trim() !== '') {
    const tag = TAG.exec(rest);
    const taken = tag ?? EMPTY_ITEM.exec(rest);
    if (taken === null) throw new Problem('malformed', `${name} is neither * nor a list of quoted entity tags`);
    if (tag !== null) tags.push({ weak: tag[1] !== undefined, text: tag[2]! });
    rest = rest.slice(taken[0].length);
  }
  return tags;
}

/** Whether the request has one of the two headers, well-formed or not. */
export function conditionHeaders(request: Request): boolean {
  return request.headers.has('If-Match') || request.headers.has('If-None-Match');
}
