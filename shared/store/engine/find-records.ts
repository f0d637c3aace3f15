// Finds records in a leaf. If the copy in memory is young enough, that takes no request; if its
// pages are in memory, a read of 8 bytes; otherwise one read of header and pages.
import { rowsToCount } from '../container/count.ts';
import {
  everyRowFor,
  findRecord,
  partOf,
  type Range,
  rangeWithin,
  rowsFor,
  rowsOfRange,
  type ScanRange,
} from '../container/layers.ts';
import { isKnown, pageBytesOf, pageOf, SMALL_BYTES, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { PageRef } from '../format/page-table.ts';
import { type Position, within } from '../format/position.ts';
import { isExpired, type StoredRecord } from '../format/page-body.ts';
import type { Clock } from '../io/clock.ts';
import { count } from '../system/tracing.ts';
import { isShownBy, PAGE_READS_MAX } from '../io/reads.ts';
import { isProbablyStale } from '../machine/contention.ts';
import type { Engine } from './engine.ts';
import type { Routable } from './tree-runner.ts';

/** A read that needs a larger share of a leaf takes all of it: other calls will need the rest. */
const WHOLE_SHARE = 0.75;

/** How old the answer of a read may be. */
export interface Since {
  /**
   * When the call began. The answer must be read after that, unless `maxAgeMs` allows an older one.
   */
  readonly begunTick: number;
  readonly maxAgeMs: number;
}

export interface LeafRequest extends Since {
  readonly positions: readonly Position[];
}

/** The pages of a leaf that a read needs. */
type Needs = (leaf: Snapshot) => readonly PageRef[];

/** The leaf with the pages for the positions; undefined if it is missing. Mostly one round trip. */
export async function lookForRecords(
  engine: Engine,
  id: EntityId,
  request: LeafRequest,
): Promise<Snapshot | undefined> {
  const { positions } = request;
  const known = await lookInMemory(engine, id, request, (leaf) => hasPages(leaf, positions));
  count(engine, known === undefined ? 'cacheMisses' : 'cacheHits', positions.length);
  return known ?? readFor(engine, id, request, (leaf) => pagesFor(leaf, positions));
}

/** The bytes that a read for the positions would bring; undefined if the leaf is not known. */
export function bytesToRead({ cache }: Engine, id: EntityId, items: readonly Routable[]): number | undefined {
  const leaf = cache.get(id) ?? cache.recall(id);
  if (leaf === undefined) return undefined;
  const refs = pagesFor(
    leaf,
    items.map(({ position }) => position),
  );
  return refs.reduce((sum, ref) => sum + (isKnown(ref) ? 0 : ref.sealedBytes), 0);
}

/** What a scan takes of a leaf. */
export interface LeafScan extends ScanRange {
  /** Whether it takes the whole leaf, which one request can then read. */
  readonly isWhole: boolean;
}

/** The leaf with the pages that the scan takes of it; undefined if it is missing. */
export function lookToScan(engine: Engine, id: EntityId, scan: LeafScan): Promise<Snapshot | undefined> {
  return lookNow(
    engine,
    id,
    ({ header }) => rowsOfRange(header, rangeWithin(scan, partOf(header, scan))),
    scan.isWhole,
  );
}

/** The leaf with the pages that counting needs, mostly none; undefined if it is missing. */
export function lookToCount(engine: Engine, id: EntityId, range: Range): Promise<Snapshot | undefined> {
  return lookNow(engine, id, ({ header }) => rowsToCount(header, range));
}

async function lookNow(engine: Engine, id: EntityId, needs: Needs, isWhole = false): Promise<Snapshot | undefined> {
  const since = { begunTick: engine.clock.now().tick, maxAgeMs: 0 };
  const known = await lookInMemory(engine, id, since, (leaf) => needs(leaf).every(isKnown));
  if (known !== undefined) return known;
  return isWhole && engine.cache.get(id) === undefined
    ? engine.reader.readWhole(id)
    : readFor(engine, id, since, needs);
}

/** Reads the leaf with these pages; if its header is not known, that comes first. */
async function readFor(engine: Engine, id: EntityId, since: Since, needs: Needs): Promise<Snapshot | undefined> {
  let latest = engine.cache.get(id);
  for (let reads = 1; reads <= PAGE_READS_MAX; reads += 1) {
    const read = await readOnce(engine, id, latest, needs);
    if (read === undefined) return undefined;
    const isReadFully = needs(read).every(({ content }) => content.isKnown || content.damage !== undefined);
    if (isReadFully && read.seen.tick > since.begunTick) return read;
    latest = read;
  }
  return engine.reader.readWhole(id);
}

/**
 * Reads header and pages as `latest` names them: the whole leaf if that is hardly more, or if it is
 * small and others have written since.
 */
function readOnce(
  { contention, reader, runtime }: Engine,
  id: EntityId,
  latest: Snapshot | undefined,
  needs: Needs,
): Promise<Snapshot | undefined> {
  if (latest === undefined) return reader.readUnknown(id);
  const needed = needs(latest);
  const unknown = isProbablyStale(contention, latest, runtime.monotonicMs())
    ? []
    : needed.filter((ref) => !isKnown(ref));
  const asked = unknown.length > 0 ? unknown : needed;
  const allBytes = pageBytesOf(latest.header);
  const askedBytes = asked.reduce((sum, { sealedBytes }) => sum + sealedBytes, 0);
  const isSmall = allBytes <= SMALL_BYTES && needed.every(isKnown);
  const isMost = asked.length > 1 && askedBytes > WHOLE_SHARE * allBytes;
  if (isSmall || isMost) return reader.readWhole(id);
  const slots = asked.map(({ slot }) => slot);
  return reader.readPages(id, slots, latest);
}

function isYoungEnough(snapshot: Snapshot, request: Since, clock: Clock): boolean {
  if (snapshot.seen.tick > request.begunTick) return true;
  return request.maxAgeMs > 0 && clock.ageMs(snapshot.seen) <= request.maxAgeMs;
}

/** The leaf from memory, if it `has` what is needed and is young enough or shown to be current. */
async function lookInMemory(
  { cache, clock, contention, reader, router, runtime }: Engine,
  id: EntityId,
  since: Since,
  has: (leaf: Snapshot) => boolean,
): Promise<Snapshot | undefined> {
  const before = cache.get(id) ?? cache.recall(id);
  if (before === undefined || !has(before)) return undefined;
  if (isYoungEnough(before, since, clock)) return before;
  // Others have probably written since, so a check would show another version.
  if (isProbablyStale(contention, before, runtime.monotonicMs())) return undefined;
  const observed = await reader.commitOf(id);
  // The read may show a commit of this process that is not answered yet.
  router.recognise(id, observed);
  const now = cache.get(id);
  // The same snapshot has the same pages; checking them again would double a large request's cost.
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
