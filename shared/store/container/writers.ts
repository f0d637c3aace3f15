// Which processes wrote a container: each commit's id begins with the tag of its process, and a
// header lists the ids of the last commits.
import { asBuffer, type Id64, ID64_BYTES } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';

/** Hexadecimal digits. Processes with equal tags take each other's commits for their own. */
export const TAG_DIGITS = 4;
/** A process that made none of the last so many commits is assumed to have stopped. */
const COMMITS_REMEMBERED = 32;

/** The id with its first digits replaced by the tag of its process. */
export function tagged(id: Id64, tag: string): Id64 {
  return `${tag}${id.slice(TAG_DIGITS)}` as Id64;
}

/** How many of the last writers last wrote before this one did; undefined if it is none of them. */
export function writersAhead({ commitIds }: Header, tag: string): number | undefined {
  // Each writer once, the latest first.
  const writers = [...new Set(lastTags(commitIds, COMMITS_REMEMBERED).toReversed())];
  const place = writers.indexOf(tag);
  return place === -1 ? undefined : writers.length - 1 - place;
}

/** The tags of the processes that made the commits after number `count`, as far as listed. */
export function writersSince({ commitCount, commitIds }: Header, count: number): Set<string> {
  return new Set(lastTags(commitIds, commitCount - count));
}

/** The tags of the last `count` ids, oldest first; fewer if there are not so many. */
function lastTags(ids: Uint8Array, count: number): string[] {
  const tags: string[] = [];
  for (let at = Math.max(0, ids.length - count * ID64_BYTES); at < ids.length; at += ID64_BYTES)
    tags.push(asBuffer(ids).toString('hex', at, at + TAG_DIGITS / 2));
  return tags;
}
