// Finds records in a leaf: no I/O if young enough, a tiny read with pages at hand, else one read.
import { rowsToCount } from '../container/count.ts';
import { everyRowFor, findRecord, type Range, rowsFor } from '../container/layers.ts';
import { isKnown, isWhole, pageBytesOf, pageOf, SMALL_BYTES, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { PageRef } from '../format/page-table.ts';
import { type Position, within } from '../format/position.ts';
import { isExpired, type StoredRecord } from '../format/record.ts';
import type { Clock } from '../io/clock.ts';
import { count } from '../io/counters.ts';
import { isShownBy, PAGE_READS_MAX } from '../io/reads.ts';
import { isProbablyStale } from '../machine/contention.ts';
import type { Engine } from './engine.ts';

/** How old what is shown may be. */
export interface Since {
  /** When the call began: the answer must be read after it, unless it is young enough. */
  readonly begunTick: number;
  readonly maxAgeMs: number;
}

export interface LeafRequest extends Since {
  readonly positions: readonly Position[];
}

/** The leaf with the pages for the positions; undefined if missing. One round trip, mostly. */
export async function lookForRecords(
  engine: Engine,
  id: EntityId,
  request: LeafRequest,
): Promise<Snapshot | undefined> {
  const known = await lookInMemory(engine, id, request, (leaf) => hasPages(leaf, request.positions));
  if (known !== undefined) {
    count(engine, 'cacheHits', request.positions.length);
    return known;
  }
  count(engine, 'cacheMisses', request.positions.length);
  let latest = engine.cache.get(id) ?? engine.cache.recall(id);
  for (let reads = 1; reads <= PAGE_READS_MAX; reads += 1) {
    const read = await readFor(engine, id, latest, request);
    if (read === undefined) return undefined;
    const pages = pagesFor(read, request.positions);
    const isReadFully = pages.every(({ content }) => content.isKnown || content.damage !== undefined);
    if (isReadFully && read.seen.tick > request.begunTick) return read;
    latest = read;
  }
  return engine.reader.readWhole(id);
}

/** Header and pages, as the leaf seen last tells them; a small one whole if others wrote since. */
function readFor(
  { reader }: Engine,
  id: EntityId,
  latest: Snapshot | undefined,
  { positions }: LeafRequest,
): Promise<Snapshot | undefined> {
  if (latest === undefined) return reader.readUnknown(id);
  const refs = pagesFor(latest, positions);
  if (pageBytesOf(latest.header) <= SMALL_BYTES && refs.every(isKnown)) return reader.readWhole(id);
  const slots = refs.map(({ slot }) => slot);
  return reader.readPages(id, slots, latest);
}

/** Undefined if missing. A tiny read if memory has all pages, else one of the whole. */
export async function lookAtWhole(engine: Engine, id: EntityId): Promise<Snapshot | undefined> {
  const since = { begunTick: engine.clock.now().tick, maxAgeMs: 0 };
  const known = await lookInMemory(engine, id, since, ({ header }) => isWhole(header));
  return known ?? engine.reader.readWhole(id);
}

/** Undefined if missing. A tiny read, its header, or both and the whole, as counting needs it. */
export async function lookToCount(engine: Engine, id: EntityId, range: Range): Promise<Snapshot | undefined> {
  const since = { begunTick: engine.clock.now().tick, maxAgeMs: 0 };
  const tells = ({ header }: Snapshot): boolean => rowsToCount(header, range).every(isKnown);
  const known = await lookInMemory(engine, id, since, tells);
  if (known !== undefined) return known;
  const latest = engine.cache.get(id) ?? engine.cache.recall(id);
  if (latest === undefined || tells(latest)) {
    const read = await engine.reader.readPages(id, [], latest);
    if (read === undefined || (tells(read) && read.seen.tick > since.begunTick)) return read;
  }
  return engine.reader.readWhole(id);
}

function isYoungEnough(snapshot: Snapshot, request: Since, clock: Clock): boolean {
  if (snapshot.seen.tick > request.begunTick) return true;
  return request.maxAgeMs > 0 && clock.ageMs(snapshot.seen) <= request.maxAgeMs;
}

/** The leaf from memory, if it `has` what is needed and a tiny read, or none, allows it. */
async function lookInMemory(
  { cache, clock, contention, reader, router, runtime }: Engine,
  id: EntityId,
  since: Since,
  has: (leaf: Snapshot) => boolean,
): Promise<Snapshot | undefined> {
  const before = cache.get(id);
  if (before === undefined || !has(before)) return undefined;
  if (isYoungEnough(before, since, clock)) return before;
  // A check would probably be in vain.
  if (isProbablyStale(contention, before, runtime.monotonicMs())) return undefined;
  const observed = await reader.commitOf(id);
  // It may be a commit of this process, whose reply is on its way.
  router.recognise(id, observed);
  const now = cache.get(id);
  // The same snapshot has the same pages: looking again would double a large request's cost.
  if (now === undefined || (now !== before && !has(now))) return undefined;
  return isYoungEnough(now, since, clock) || isShownBy(observed, now) ? now : undefined;
}

/** Whether all pages are known that may hold those of the positions that lie within the leaf. */
function hasPages({ header }: Snapshot, positions: readonly Position[]): boolean {
  if (header.level !== 0) return true;
  return positions.every(
    (position) => !within(position, header.low, header.high) || everyRowFor(header, position, isKnown),
  );
}

/** The pages of the leaf that may hold those of the positions that lie within it. */
function pagesFor(snapshot: Snapshot, positions: readonly Position[]): PageRef[] {
  const { header } = snapshot;
  if (header.level !== 0) return [];
  const refs = new Set<PageRef>();
  for (const position of positions) {
    if (!within(position, header.low, header.high)) continue;
    for (const ref of rowsFor(header, position)) refs.add(ref);
  }
  return [...refs];
}

/** The live record with this key in a leaf that owns its position. */
export function recordIn(
  engine: Engine,
  leaf: Snapshot,
  position: Position,
  key: Uint8Array,
): StoredRecord | undefined {
  let isHeavier = false;
  const record = findRecord(leaf.header, position, key, (ref) => {
    isHeavier ||= ref.content.page === undefined;
    return pageOf(leaf, ref, engine.table);
  });
  if (isHeavier) engine.cache.offer(leaf);
  const mayExpire = record?.expiresAtMs !== undefined;
  return mayExpire && isExpired(record, engine.runtime.wallMs()) ? undefined : record;
}
