// Salvages a damaged container: finds the records of its readable pages, and makes nodes of them.
import type { PartName } from '../contract/driver.ts';
import { asName, compareBytes, EMPTY_BYTES, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { pagePart, slotOfPart } from '../format/entity-ids.ts';
import { openEnvelope, openPage } from '../format/envelope.ts';
import type { Header } from '../format/header.ts';
import {
  cutPage,
  isTombstone,
  lowBetween,
  type Page,
  pageFrom,
  recordsOf,
  type StoredRecord,
} from '../format/page-body.ts';
import { beforeBound, decodeKey, groupOf, type Position, positionsOf, within } from '../format/position.ts';
import { type CheckValue, type Stretch, valueFault } from './check.ts';
import { fitsWhole } from './container-size.ts';
import { layersOf } from './layers.ts';
import { sealPage } from './new-pages.ts';
import type { CommitRules } from './plan-commit.ts';
import { addressOf } from './snapshot.ts';

/** A container as it is stored. Without a readable header only its pages show what it held. */
export interface Remains {
  readonly parts: ReadonlyMap<PartName, Uint8Array>;
  readonly header: Header | undefined;
  readonly incarnation: Id64;
  readonly container: Id64;
}

/** A page, undefined if unreadable, and its stretch. `layer` is 0 without a header. */
interface FoundPage {
  readonly layer: number;
  readonly page: Page | undefined;
  readonly stretch: Stretch;
}

const EVERYWHERE: Stretch = { from: EMPTY_BYTES, to: undefined };

/** All pages of a container. Without a header only those are readable that name this container. */
export function pagesFound({ parts, header, incarnation, container }: Remains): FoundPage[] {
  if (header === undefined)
    return [...parts].flatMap(([name, sealed]) => {
      const slot = slotOfPart(name);
      if (slot === undefined) return [];
      const page = readable(() => {
        const at = openEnvelope(sealed);
        return openPage(sealed, { incarnation, container, slot, number: at.number }, at.crc);
      });
      return [{ layer: 0, page, stretch: EVERYWHERE }];
    });
  return layersOf(header).flatMap((rows, layer) =>
    rows.map((ref, row) => {
      const sealed = parts.get(pagePart(ref.slot));
      const page = sealed && readable(() => openPage(sealed, addressOf(header, ref.slot, ref.number), ref.crc));
      return { layer, page, stretch: { from: ref.low, to: rows[row + 1]?.low ?? header.high } };
    }),
  );
}

/** The result of `read`, or undefined if it throws a RangeError, as for damaged bytes. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

interface Newest {
  readonly record: StoredRecord;
  readonly layer: number;
}

/** The newest record of each key, which is the one with the highest number in whatever layer. */
function newestOf(pages: readonly FoundPage[]): Newest[] {
  const newest = new Map<string, Newest>();
  for (const { page, layer } of pages)
    for (const record of page === undefined ? [] : recordsOf(page)) {
      const name = asName(record.key);
      const before = newest.get(name);
      if (before === undefined || before.record.version < record.version) newest.set(name, { record, layer });
    }
  return [...newest.values()];
}

export interface Salvage {
  /** Sorted by position. */
  readonly records: readonly StoredRecord[];
  readonly nextNumber: number;
  /** Where records may be missing. */
  readonly lost: readonly Stretch[];
  /** Keys whose value cannot be decoded, or that lie outside of the container. */
  readonly lostKeys: readonly string[];
  /** Keys covered by an unreadable page: their record may be an older one, or deleted. */
  readonly olderKeys: readonly string[];
}

/**
 * What can be restored into the leaf `base`, which has no pages yet. Records that may be older ones
 * get fresh numbers, so that no version returns.
 */
export function salvage(pages: readonly FoundPage[], base: Header, checkValue: CheckValue): Salvage {
  const positionOf = positionsOf(base.order, 0);
  const unreadable = pages.filter(({ page }) => page === undefined);
  const isOlder = ({ record, layer }: Newest): boolean =>
    unreadable.some(
      ({ layer: above, stretch }) =>
        (above > layer || stretch === EVERYWHERE) && within(positionOf(record.key), stretch.from, stretch.to),
    );
  const [lostKeys, olderKeys]: [string[], string[]] = [[], []];
  let { nextNumber } = base;
  const records = newestOf(pages).flatMap((one) => {
    const { record } = one;
    if (isTombstone(record)) return [];
    if (!within(positionOf(record.key), base.low, base.high) || valueFault(record, checkValue) !== undefined) {
      lostKeys.push(decodeKey(record.key));
      return [];
    }
    if (!isOlder(one)) return [record];
    olderKeys.push(decodeKey(record.key));
    return [{ ...record, version: nextNumber++ }];
  });
  records.sort((a, b) => compareBytes(positionOf(a.key), positionOf(b.key)));
  const lost = unreadable.map(({ stretch }) => (stretch === EVERYWHERE ? { from: base.low, to: base.high } : stretch));
  return { records, nextNumber, lost, lostKeys, olderKeys };
}

/** The positions of the readable records, sorted. The container owned them. */
export function positionsLeft(pages: readonly FoundPage[], order: Header['order']): Position[] {
  const positionOf = positionsOf(order, 0);
  return newestOf(pages)
    .map(({ record }) => positionOf(record.key))
    .toSorted(compareBytes);
}

/** Whether the pages name one of these containers. If so, a root without a header was a branch. */
export function namesAny(pages: readonly FoundPage[], containers: ReadonlySet<string>): boolean {
  return newestOf(pages).some(({ record }) => containers.has(Buffer.from(record.value).toString('hex')));
}

/** The order of a table by its pages: `hash` if the keys in all pages are sorted by hash. */
export function orderOf(pages: readonly FoundPage[]): Header['order'] {
  const byHash = positionsOf('hash', 0);
  const isHashed = pages.every(({ page }) => {
    if (page === undefined) return true;
    const positions = recordsOf(page).map(({ key }) => byHash(key));
    return positions.every((position, index) => index === 0 || beforeBound(positions[index - 1]!, position));
  });
  return isHashed ? 'hash' : 'key';
}

/**
 * Nodes that hold these records: `base`, and as many further ones to its right as are needed.
 * Throws a RangeError if a root would need several.
 */
export function nodesOf(
  base: Header,
  records: readonly StoredRecord[],
  fresh: { readonly drawId: () => Id64; readonly origin: Header['origin'] },
  rules: CommitRules,
): Header[] {
  const positionOf = positionsOf(base.order, base.level);
  const pieces = records.length === 0 ? [] : cutPage(pageFrom(records), rules.pageBytes);
  const nodes: Header[] = [];
  const runs: { readonly low: Position; readonly piece: Page }[][] = [];
  for (const [index, piece] of pieces.entries()) {
    const low = index === 0 ? base.low : lowBetween(pieces[index - 1]!, piece, base, positionOf);
    if (index === 0 || !isWithinGroup(low, base)) runs.push([]);
    runs.at(-1)!.push({ low, piece });
  }
  const grow = (from: Header, run: (typeof runs)[number]): Header =>
    run.reduce((node, { low, piece }) => withPage(node, piece, low, rules), from);
  let node: Header = { ...base, pages: [] };
  for (const run of runs) {
    const grown = grow(node, run);
    if (node.pages.length === 0 || fitsWhole(grown, rules.limits)) {
      node = grown;
      continue;
    }
    if (base.container === ROOT_CONTAINER) throw new RangeError('the records do not fit into one root');
    const container = fresh.drawId();
    const { low } = run[0]!;
    nodes.push({ ...node, high: low, right: container });
    const { nextNumber } = grown;
    const own = { container, low, commitIds: EMPTY_BYTES, origin: fresh.origin, pages: [], nextNumber };
    node = grow({ ...base, ...own }, run);
  }
  const { nextNumber } = node;
  return [...nodes, node].map((each) => ({ ...each, nextNumber }));
}

function withPage(node: Header, page: Page, low: Position, rules: CommitRules): Header {
  const { pages, nextNumber: number } = node;
  const sealed = sealPage(page, node, { low, slot: pages.length, number }, rules);
  return { ...node, pages: [...pages, sealed], nextNumber: number + 1 };
}

/** Whether the low lies within a group, where no leaf may begin (rule 34). */
function isWithinGroup(low: Position, { level, groupBy }: Header): boolean {
  return level === 0 && groupOf(low, groupBy).length < low.length;
}
