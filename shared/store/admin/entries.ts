// Drops the routing entries that merges left behind, at whose separator no leaf begins any more
// (rule 29). The first entry of a branch stays, as the branch begins with it.
import { childrenOf, type RoutingEntry } from '../container/branch.ts';
import { type Action, entryChange } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { Engine } from '../engine/engine.ts';
import type { Id64 } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/entity-ids.ts';
import type { Position } from '../format/position.ts';

/** The longest wait for the answers; a repair that meets others' commits pauses for seconds. */
const ANSWERED_MS_MAX = 60_000;

/**
 * The separators in the branches above the leaves, read past every cache, in order, without the
 * first of each branch. Undefined if there is no such branch, or a gap.
 */
export async function readSeparators(engine: Engine): Promise<Position[] | undefined> {
  let branch = await engine.reader.readWhole(rootId(engine.table));
  if (branch?.header.state !== 'live' || branch.header.level === 0) return undefined;
  const { incarnation } = branch.header;
  const read = (container: Id64): Promise<Snapshot | undefined> =>
    engine.reader.readWhole(nodeId(engine.table, incarnation, container));
  while (branch !== undefined && branch.header.level > 1) {
    const first: RoutingEntry | undefined = childrenOf(branch, engine.table)[0];
    branch = first && (await read(first.child));
  }
  const separators: Position[] = [];
  while (branch !== undefined) {
    for (const { low } of childrenOf(branch, engine.table).slice(1)) separators.push(low);
    if (branch.header.right === undefined) return separators;
    branch = await read(branch.header.right);
  }
  return undefined;
}

/** Drops the entries of separators at which no leaf begins any more; returns their number. */
export async function dropEntries(engine: Engine, incarnation: Id64, stale: readonly Position[]): Promise<number> {
  if (stale.length === 0) return 0;
  let dropped = 0;
  let open = stale.length;
  const answered = new AbortController();
  const sink = {
    settled: (_: number, { kind }: { readonly kind: string }) => {
      if (kind === 'applied') dropped += 1;
      open -= 1;
      if (open === 0) answered.abort();
    },
  };
  const begunTick = engine.clock.now().tick;
  const action: Action = (current, found) => ({
    kind: current !== undefined && found === incarnation ? 'remove' : 'none',
  });
  const changes = stale.map((separator, index) => entryChange({ separator, level: 1, begunTick, action, sink, index }));
  engine.router.route(changes);
  // Unlike the repairs' own timers, this wait keeps the process alive.
  await engine.runtime.sleep(ANSWERED_MS_MAX, answered.signal);
  return dropped;
}
