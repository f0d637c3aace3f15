// The header of a container's next commit (invariant 7).
import type { Id64 } from '../format/bytes.ts';
import { appendCommitId, type Header } from '../format/header.ts';
import { lastSplitAfter } from './last-split.ts';

/**
 * The header after the commit `attempt`: it counts one more commit, ends its ids with that of the
 * attempt, and goes on with the next number of `header`. Every write of an existing container
 * starts from it. Otherwise an attempt could not be settled (rule 3), or a record's version would
 * return (invariant 3).
 */
export function successor(header: Header, attempt: Id64): Header {
  return {
    ...header,
    commitCount: header.commitCount + 1,
    commitIds: appendCommitId(header.commitIds, attempt),
    freezeMs: 0,
    lastSplit: lastSplitAfter(header.lastSplit, header.commitCount + 1),
  };
}
