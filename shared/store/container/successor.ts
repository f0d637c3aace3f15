// The header of a container's next commit (invariant 7).
import type { Id64 } from '../format/bytes.ts';
import { appendCommitId, type Header } from '../format/header.ts';
import { lastSplitAfter } from './last-split.ts';

/**
 * The header that the commit `attempt` leaves behind: it counts one more, ends its ids with that
 * attempt's, and goes on numbering where `header` stood. Every write of an existing container
 * begins with it; without these three an attempt could not be settled (rule 3), or a record's
 * version would return (invariant 3).
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
