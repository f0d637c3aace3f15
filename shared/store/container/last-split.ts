// A header names the nodes that its last splits made until the branches do, so that processes with
// older branches find them without following links.
import type { DriverLimits } from '../contract/driver.ts';
import { compareBytes, ID64_BYTES } from '../format/bytes.ts';
import type { Header, LastSplit, SplitPart } from '../format/header.ts';
import type { Position } from '../format/position.ts';

/** How many commits of the node keep the names. */
const COMMITS_KEPT = 32;
/** What the names may take of a header, and as a share of an entity. */
const BYTES_MAX = 1_024;
const SHARE_MAX = 1 / 64;
/** What their lengths and the number of the commit take. */
const FRAME_BYTES = 16;

/** What the header of commit number `commitCount` still names of the split before. */
export function lastSplitAfter(before: LastSplit | undefined, commitCount: number): LastSplit | undefined {
  return before !== undefined && commitCount - before.commit <= COMMITS_KEPT ? before : undefined;
}

/** What a header names after a split: these nodes, then those of earlier splits that fit. */
export function lastSplitOf(
  nodes: readonly Header[],
  { lastSplit, commitCount }: Header,
  limits: DriverLimits,
): LastSplit | undefined {
  const earlier = lastSplitAfter(lastSplit, commitCount + 1)?.parts ?? [];
  const bytesMax = Math.min(BYTES_MAX, SHARE_MAX * limits.entityBytesMax);
  const parts: SplitPart[] = [];
  let bytes = FRAME_BYTES;
  for (const { low, container } of [...nodes, ...earlier]) {
    bytes += low.length + 2 + ID64_BYTES;
    if (bytes > bytesMax) break;
    parts.push({ low, container });
  }
  return parts.length === 0 ? undefined : { parts, commit: commitCount + 1 };
}

/** The last node named to the right that does not begin above `position`, if any. */
export function splitPartFor({ lastSplit, high }: Header, position: Position): SplitPart | undefined {
  const part = lastSplit?.parts.findLast(({ low }) => compareBytes(low, position) <= 0);
  return part !== undefined && high !== undefined && compareBytes(part.low, high) >= 0 ? part : undefined;
}
