// Merges two leaves (rules 26, 27 and 30): the right one retires, the left one absorbs it.
import { retiredHeader, strippedHeader } from '../container/join-leaves.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { patchOf, replaceOf } from '../container/writes.ts';
import { StoreError } from '../contract/errors.ts';
import type { VacuumReport } from '../contract/vacuum-report.ts';
import type { Engine } from '../engine/engine.ts';
import { encodeHeader } from '../format/header.ts';
import { within } from '../format/position.ts';
import { drawAttempt } from '../io/clock.ts';
import { Absorbing } from '../machine/leaf.ts';

/** A `VacuumReport` in the making. Damaged containers are kept by id, as each may be met twice. */
export type Tally = { -readonly [Name in keyof Omit<VacuumReport, 'damaged' | 'cursor'>]: number } & {
  readonly damaged: Set<string>;
};

/**
 * Retires `right`, which is whole, live, and not the leftmost. Undefined if others wrote to it.
 * `isAlone`: in a request of its own, so that a refusal is certain (rule 1). Cost: 1 or 2 requests.
 */
export async function retire(engine: Engine, right: Snapshot, isAlone: boolean): Promise<Snapshot | undefined> {
  const attempt = drawAttempt(engine);
  const header = retiredHeader(right.header, attempt);
  const seen = engine.clock.now();
  const write = patchOf(right, encodeHeader(header, right.header), { written: [], dropped: [] }, attempt);
  const outcome = await engine.writeBatcher.send(write, isAlone, () => true);
  // If the write was not acknowledged, a read tells the leaf's state.
  const now =
    outcome.kind === 'written'
      ? engine.cache.offer({ id: right.id, version: outcome.version, header, lastCommit: attempt, seen })
      : await engine.reader.readIntact(right.id);
  return now?.header.state === 'retired' ? now : undefined;
}

/** If `work` meets a damaged container, counts it, so that vacuum can go on elsewhere. */
export async function unlessDamaged<T>(tally: Tally, work: () => Promise<T>): Promise<T | 'damaged'> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'corrupt')) throw error;
    tally.damaged.add(error.container ?? error.message);
    return 'damaged';
  }
}

/**
 * Lets `left` absorb its retired right neighbour. Returns `left` as it then is; undefined if it is
 * missing. `dropEntries` removes the entry that names the neighbour.
 */
export async function finishPair(
  engine: Engine,
  left: Snapshot,
  retired: Snapshot,
  tally: Tally,
): Promise<Snapshot | undefined> {
  const { known: now } = await engine.router.maintain(left.id, (leaf) => {
    leaf.known = left;
    leaf.absorbing = new Absorbing(retired);
  });
  if (await strip(engine, retired, now)) tally.stripped += 1;
  return now;
}

/**
 * Strips a retired leaf to a `merged` header, once `owner` or a search past every cache shows
 * another live leaf that owns its low. False otherwise; the next vacuum tries again.
 */
export async function strip(engine: Engine, retired: Snapshot, owner?: Snapshot): Promise<boolean> {
  if (!isOwnedBy(owner, retired) && !isOwnedBy(await ownerOf(engine, retired), retired)) return false;
  const attempt = drawAttempt(engine);
  const header = strippedHeader(retired.header, attempt, engine.runtime.wallMs());
  const outcome = await engine.writeBatcher.send(replaceOf(retired, header, attempt), false, () => true);
  return outcome.kind === 'written';
}

function isOwnedBy(owner: Snapshot | undefined, { id, header }: Snapshot): boolean {
  if (owner === undefined || owner.id === id || owner.header.state !== 'live') return false;
  return owner.header.incarnation === header.incarnation && within(header.low, owner.header.low, owner.header.high);
}

/** The live leaf that owns the low, read past every cache; undefined if that is not certain. */
export async function ownerOf(engine: Engine, { header }: Snapshot): Promise<Snapshot | undefined> {
  try {
    const found = await engine.tree.leafFromTheLeft(header.incarnation, header.low);
    return found?.retired === undefined ? found?.live : undefined;
  } catch (error) {
    // Stale entries may mislead the search. Vacuum goes on, and drops them later.
    if (error instanceof StoreError && (error.code === 'corrupt' || error.code === 'unavailable')) return undefined;
    throw error;
  }
}
