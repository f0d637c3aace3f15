// How many containers of which kind a modelled table has: what a merge is judged by.
import type { MemoryState } from '../../../drivers/memory/effects.ts';
import { decodeHeader } from '../../../store/format/header.ts';
import { HEADER_PART } from '../../../store/format/ids.ts';

export interface Census {
  /** Leaves that hold records, or may. */
  readonly leaves: number;
  /** Headers of leaves that were merged. */
  readonly merged: number;
  /** Routing entries right above the leaves. */
  readonly entries: number;
}

/** Looks at every entity of the state, which holds one table. */
export function censusOf({ entities }: MemoryState): Census {
  const census = { leaves: 0, merged: 0, entries: 0 };
  for (const id of entities.keys()) {
    const stored = entities.get(id)?.parts.get(HEADER_PART);
    if (stored === undefined) continue;
    const { level, pages, state } = decodeHeader(stored);
    if (level === 1) census.entries += pages.reduce((sum, { records }) => sum + records, 0);
    if (level === 0) census[state === 'merged' ? 'merged' : 'leaves'] += 1;
  }
  return census;
}
