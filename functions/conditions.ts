// If-Match and If-None-Match as RFC 9110 (13.1, 13.2) has them. An entity tag is a record's version, quoted: it names the record's
// state, whichever media type it is shown in (`Vary: Accept` keeps caches right), so it is good for conditional writes from anywhere.
import { Problem } from './problem.ts';

interface Tag {
  readonly weak: boolean;
  readonly version: string;
}

type TagList = '*' | readonly Tag[];

export interface Conditions {
  readonly ifMatch: TagList | undefined;
  readonly ifNoneMatch: TagList | undefined;
}

export function conditionsOf(request: Request): Conditions {
  return { ifMatch: tagsOf(request, 'If-Match'), ifNoneMatch: tagsOf(request, 'If-None-Match') };
}

/** Whether If-Match lets the request pass at this version (undefined: no record). Weak tags never match. */
export function passesIfMatch({ ifMatch }: Conditions, version: string | undefined): boolean {
  if (ifMatch === undefined) return true;
  if (version === undefined) return false;
  return ifMatch === '*' || ifMatch.some((tag) => !tag.weak && tag.version === version);
}

/** Whether If-None-Match lets the request pass at this version. Weak tags match like strong ones. */
export function passesIfNoneMatch({ ifNoneMatch }: Conditions, version: string | undefined): boolean {
  if (ifNoneMatch === undefined || version === undefined) return true;
  return ifNoneMatch !== '*' && !ifNoneMatch.some((tag) => tag.version === version);
}

/** What a store can be told at once: exactly this version, or no record. */
export type Guard = { readonly ifVersion: string } | { readonly ifAbsent: true } | Record<string, never>;

/** The conditions as one guard where that says it all, so that no read comes first; undefined where a read must. */
export function guardOf({ ifMatch, ifNoneMatch }: Conditions): Guard | undefined {
  if (ifMatch === undefined && ifNoneMatch === undefined) return {};
  if (ifMatch === undefined && ifNoneMatch === '*') return { ifAbsent: true };
  if (ifNoneMatch === undefined && ifMatch !== '*' && ifMatch?.length === 1 && !ifMatch[0]!.weak) {
    return { ifVersion: ifMatch[0]!.version };
  }
  return undefined;
}

export function entityTag(version: string): string {
  return `"${version}"`;
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
    if (tag !== null) tags.push({ weak: tag[1] !== undefined, version: tag[2]! });
    rest = rest.slice(taken[0].length);
  }
  return tags;
}

/** Whether the request carries any of the two headers, well-formed or not. */
export function conditionHeaders(request: Request): boolean {
  return request.headers.has('If-Match') || request.headers.has('If-None-Match');
}
