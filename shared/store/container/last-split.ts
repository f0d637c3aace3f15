// A header names the nodes of its last splits until branches do: older views go straight there.
import type { DriverLimits } from '../contract/driver.ts';
import { compareBytes, ID64_BYTES } from '../format/bytes.ts';
import type { Header, LastSplit, SplitPart } from '../format/header.ts';
import type { Position } from '../format/position.ts';

/** For so many commits of the node. */
const COMMITS_KEPT = 32;
/** The names take so much of a header at most, and this share of an entity. */
const BYTES_MAX = 1_024;
const SHARE_MAX = 1 / 64;
/** The lengths, and the number of the commit. */
const FRAME_BYTES = 16;

/** The last split, as the header of commit `commitCount` still names it. */
export function lastSplitAfter(before: LastSplit | undefined, commitCount: number): LastSplit | undefined {
  return before !== undefined && commitCount - before.commit <= COMMITS_KEPT ? before : undefined;
}

/** The names after a split: these nodes, then those of the split before while they fit. */
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

/** The last named node to the right that does not begin after `position`, if any. */
export function splitPartFor({ lastSplit, high }: Header, position: Position): SplitPart | undefined {
  const part = lastSplit?.parts.findLast(({ low }) => compareBytes(low, position) <= 0);
  return part !== undefined && high !== undefined && compareBytes(part.low, high) >= 0 ? part : undefined;
}
