// What changes cost in a leaf that others write too, and whether leaves of their own were cheaper.
import type { Change } from '../container/change.ts';
import { layersOf } from '../container/layers.ts';
import { sumsOf } from '../container/container-size.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { compareBytes } from '../format/bytes.ts';
import type { PageRef } from '../format/page-table.ts';
import type { Position } from '../format/position.ts';
import {
  COMMITS_ENOUGH,
  COMMITS_LEAST,
  DOUBT,
  NODES_MAX,
  PRODUCT_MAX,
  ROUND_TRIP_LEAST_MS,
  ROUND_TRIPS_MOST,
} from './contention-numbers.ts';

/** What the changes of this process cost: sums over its last commits. */
export interface Costs {
  readonly requests: number;
  readonly roundTrips: number;
  readonly changes: number;
  readonly commits: number;
}

export const NOTHING: Costs = { requests: 0, roundTrips: 0, changes: 0, commits: 0 };

/** Those of one commit. A provider in memory may take no time at all. */
export function costOf(
  changes: readonly Pick<Change, 'queuedMs'>[],
  requests: number,
  roundTripMs: number,
  nowMs: number,
): Costs {
  const tripMs = Math.max(ROUND_TRIP_LEAST_MS, roundTripMs);
  let roundTrips = 0;
  for (const { queuedMs } of changes) roundTrips += Math.min(ROUND_TRIPS_MOST, (nowMs - queuedMs) / tripMs);
  return { requests, roundTrips, changes: changes.length, commits: 1 };
}

/** Nodes to split a leaf among; 0: it may be shared. `seldom`: the costs of leaves like it. */
export function splitInto({ header }: Snapshot, costs: Costs, seldom: Costs, positions: readonly Position[]): number {
  const { records } = sumsOf(header.pages);
  // Branches are hints, written to seldom: they split by size alone.
  if (header.level > 0 || records < 2) return 0;
  if (costs.commits < COMMITS_LEAST || productOf(costs) < PRODUCT_MAX) return 0;
  const lacking = Math.max(0, COMMITS_ENOUGH - costs.commits);
  const share = Math.min(1, lacking / Math.max(1, seldom.commits));
  const like = sum(seldom, share, costs);
  const product = productOf(like);
  if (product < PRODUCT_MAX * (1 + DOUBT / Math.sqrt(like.commits))) return 0;
  const nodes = Math.min(NODES_MAX, Math.max(2, Math.ceil(product / PRODUCT_MAX)));
  return Math.min(records, partsOf(positions, layersOf(header)[0]!, nodes));
}

/** So many of the nodes as changes would go to: one record, or one end, cannot be shared out. */
function partsOf(positions: readonly Position[], base: readonly PageRef[], nodes: number): number {
  const sorted = positions.toSorted(compareBytes);
  const distinct = sorted.filter((position, at) => at === 0 || compareBytes(position, sorted[at - 1]!) > 0);
  if (distinct.length < 2) return 0;
  const rowOf = (position: Position): number => base.findLastIndex(({ low }) => compareBytes(low, position) <= 0);
  const isOneEnd = rowOf(distinct.at(-1)!) - rowOf(distinct[0]!) < Math.floor(base.length / nodes);
  return isOneEnd ? 0 : Math.min(nodes, distinct.length);
}

function productOf({ requests, roundTrips, changes }: Costs): number {
  return (requests * roundTrips) / (changes * changes);
}

/** So much of the first costs, and the others. */
export function sum(costs: Costs, share: number, more: Costs): Costs {
  return {
    requests: costs.requests * share + more.requests,
    roundTrips: costs.roundTrips * share + more.roundTrips,
    changes: costs.changes * share + more.changes,
    commits: costs.commits * share + more.commits,
  };
}
