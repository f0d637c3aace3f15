// Whose turn it is to write a container that many want: who wrote it least recently. The commit ids that its header keeps tell, and nothing else
// passes between processes: the first bytes of an attempt's id are its process's tag. A courtesy, for throughput: nobody relies on it.
import { asBuffer, type Id64, ID64_BYTES } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';

/** Hexadecimal digits. Two processes with one tag take their turns together, and one of them is refused. */
export const TAG_DIGITS = 4;
/** Who wrote none of so many last commits has left. */
const COMMITS_REMEMBERED = 32;

/** How many processes wrote the container less recently than this one: 0 if it is its turn. Undefined if it is new here. */
export function turnsBefore({ commitIds }: Header, tag: string): number | undefined {
  const first = Math.max(0, commitIds.length - COMMITS_REMEMBERED * ID64_BYTES);
  const recent = new Set<string>();
  let before = 0;
  let isKnown = false;
  for (let at = commitIds.length - ID64_BYTES; at >= first; at -= ID64_BYTES) {
    const each = tagOf(commitIds, at);
    if (recent.has(each)) continue;
    recent.add(each);
    if (each === tag) isKnown = true;
    else if (isKnown) before += 1;
  }
  return isKnown ? before : undefined;
}

function tagOf(ids: Uint8Array, at: number): string {
  return asBuffer(ids).toString('hex', at, at + TAG_DIGITS / 2);
}

/** An attempt's id: the tag of its process, the rest of it drawn. */
export function tagged(id: Id64, tag: string): Id64 {
  return `${tag}${id.slice(TAG_DIGITS)}` as Id64;
}
