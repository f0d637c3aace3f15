// A leaf absorbs its right neighbour: no record is lost, found twice or revived.
import {
  fitsTogether,
  copyOf,
  joinedSnapshot,
  relinkedSnapshot,
  retiredHeader,
  strippedHeader,
} from '../../../shared/store/container/join-leaves.ts';
import { describe, expect, test } from 'vitest';
import { type Random, randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import { layersOf } from '../../../shared/store/container/layers.ts';
import { planCommit, insertOf, replaceOf } from '../../../shared/store/container/plan-commit.ts';
import { fits, sizesOf } from '../../../shared/store/container/container-size.ts';
import { peekPage, type Snapshot, snapshotOf } from '../../../shared/store/container/snapshot.ts';
import type { Write } from '../../../shared/store/contract/driver.ts';
import { encodeHeader, type Header } from '../../../shared/store/format/header.ts';
import { nodeId } from '../../../shared/store/format/entity-ids.ts';
import { PageContent, type PageRef } from '../../../shared/store/format/page-table.ts';
import { recordsOf } from '../../../shared/store/format/page-body.ts';
import { within } from '../../../shared/store/format/position.ts';
import { entityVersion, hexId } from '../../support/ids.ts';
import { after, ATTEMPT, evaluated, expectModel, KEYS, type Model, planInput, randomChanges } from './changes.ts';
import { childId, EMPTY_LEAF, pageOfRecords, RULES, snapshotWith, TABLE, unread, withRows } from './nodes.ts';

const NOW_MS = 1_000;

const [LEFT, RIGHT, BEYOND, COPY] = ['1', '2', '3', '4'].map(childId) as [never, never, never, never];
const [LOW, MIDDLE, HIGH] = ['k000', 'k150', 'k300'].map((key) => Buffer.from(key)) as [Buffer, Buffer, Buffer];

/** The node that a provider stores after this write, decoded from its bytes. */
function stored({ id, parts }: Write): Snapshot {
  const filled = parts.filter(({ bytes }) => bytes.length > 0).map(({ name, bytes }) => [name, bytes] as const);
  const entity = { id, version: entityVersion('next'), parts: new Map(filled) };
  return snapshotOf(entity, TABLE, { tick: 0, wallMs: 0, monotonicMs: 0 }, undefined);
}

/** The records of each layer in order, including tombstones, as `key version codec`. */
function layersIn(snapshot: Snapshot): string[][] {
  return layersOf(snapshot.header).map((rows) =>
    rows
      .flatMap((ref) => recordsOf(peekPage(snapshot, ref, TABLE)))
      .map(({ key, version, codec }) => `${Buffer.from(key).toString()} ${version} ${codec}`),
  );
}

/** The same row with its content stored, expanded, or both, at random. */
function knownSomehow(random: Random, ref: PageRef): PageRef {
  const { sealed, page } = ref.content;
  const forms = [new PageContent(sealed), new PageContent(undefined, page), ref.content];
  return { ...ref, content: forms[randomInt(random, 3)]! };
}

interface Pair {
  readonly left: Snapshot;
  readonly right: Snapshot;
  readonly model: Model;
}

/** Two neighbours with layers, tombstones and expired records. The right one is retired. */
function randomPair(random: Random): Pair {
  const model: Model = new Map();
  const grown = (header: Partial<Header>, keys: readonly string[]): Snapshot => {
    let snapshot = snapshotWith({ nextNumber: 1 + randomInt(random, 500), ...header });
    for (let groups = randomInt(random, 12); groups > 0; groups -= 1) {
      const count = [1, 3, 15, 60][randomInt(random, 4)]!;
      const changes = randomChanges(random, keys, model, { count, fill: groups, nowMs: NOW_MS });
      snapshot = after(snapshot, evaluated(snapshot, changes, { nowMs: NOW_MS }));
    }
    return withRows(snapshot, (ref) => knownSomehow(random, ref));
  };
  const left = grown({ container: LEFT, low: LOW, high: MIDDLE, right: RIGHT }, KEYS.slice(0, 150));
  const right = grown({ container: RIGHT, low: MIDDLE, high: HIGH, right: BEYOND }, KEYS.slice(150));
  return { left, right: { ...right, header: { ...right.header, state: 'retired' } }, model };
}

function rankByRank(lower: readonly string[][], upper: readonly string[][]): string[][] {
  return Array.from({ length: Math.max(lower.length, upper.length) }, (_, rank) => [
    ...(lower[rank] ?? []),
    ...(upper[rank] ?? []),
  ]);
}

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed + 1);

/** Checks many pairs, some with many pages, some with far more layers on one side. */
function forPairs(check: (pair: Pair, random: Random) => void): void {
  let unevenness = 0;
  let pages = 0;
  for (const seed of SEEDS) {
    const random = seededRandom(seed);
    const pair = randomPair(random);
    const { left, right } = pair;
    unevenness = Math.max(unevenness, Math.abs(left.header.layers.length - right.header.layers.length));
    pages = Math.max(pages, left.header.pages.length, right.header.pages.length);
    check(pair, random);
  }
  expect([unevenness > 2, pages > 10]).toEqual([true, true]);
}

describe('rule 27: a joined leaf', () => {
  test('has the records of both leaves, layer by layer, and both ranges, and is otherwise the left leaf', () => {
    forPairs(({ left, right, model }) => {
      const joined = joinedSnapshot(left, right, RULES);
      expect(layersIn(joined)).toEqual(rankByRank(layersIn(left), layersIn(right)));
      expectModel(joined, model, NOW_MS, KEYS);
      expect({ ...joined, header: undefined }).toEqual({ ...left, header: undefined });
      const { container, commitCount, commitIds, origin } = left.header;
      expect(joined.header).toMatchObject({ container, commitCount, commitIds, origin, deadSlots: [], state: 'live' });
      expect(joined.header).toMatchObject({ low: LOW, high: HIGH, right: BEYOND });
      for (const rows of layersOf(joined.header)) {
        const lows = rows.map(({ low }) => Buffer.from(low).toString());
        expect(lows).toEqual(lows.toSorted());
        expect(lows[0] ?? LOW.toString()).toBe(LOW.toString());
      }
    });
  });

  test('rule 13: gives moved pages fresh numbers and free slots, and leaves those of the left leaf alone', () => {
    forPairs(({ left, right }) => {
      const dead = left.header.deadSlots.map(({ slot }) => slot);
      const { pages, nextNumber } = joinedSnapshot(left, right, RULES).header;
      const own = new Set(left.header.pages.map(({ number }) => number));
      const moved = pages.filter(({ number }) => !own.has(number));
      const first = Math.max(left.header.nextNumber, right.header.nextNumber);
      expect(moved.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
        right.header.pages.map((_, index) => first + index),
      );
      expect(nextNumber).toBe(first + right.header.pages.length);
      const slots = pages.map(({ slot }) => slot);
      expect(new Set([...slots, ...dead]).size).toBe(slots.length + dead.length);
      const staying = pages.filter(({ number }) => own.has(number));
      expect(staying.map(({ slot, crc }) => [slot, crc])).toEqual(
        left.header.pages.map(({ slot, crc }) => [slot, crc]),
      );
    });
  });

  test('is split in the same commit if it is too large, with a replace of the left part', () => {
    let splits = 0;
    forPairs(({ left, right, model }, random) => {
      const joined = joinedSnapshot(left, right, RULES);
      const changes = randomChanges(random, KEYS, model, { count: 20, fill: 99, nowMs: NOW_MS });
      const splitLimits = { ...RULES.limits, entityBytesMax: 16_384 };
      const plan = planCommit(inputFor(joined, changes), { ...RULES, splitLimits });
      if (plan.kind !== 'split') return;
      splits += 1;
      expect(plan.left.write.kind).toBe('replace');
      const nodes = [
        stored(plan.left.write),
        ...plan.inserts.map((node) => stored(insertOf(nodeId(TABLE, node.incarnation, node.container), node, ATTEMPT))),
      ];
      for (const node of nodes) {
        const { low, high } = node.header;
        const owned = KEYS.filter((key) => within(Buffer.from(key), low, high));
        expectModel(node, model, NOW_MS, owned);
      }
      expect(nodes.slice(1).map(({ header }) => header.low)).toEqual(
        nodes.slice(0, -1).map(({ header }) => header.high),
      );
      expect(nodes.at(-1)!.header.high).toEqual(HIGH);
    });
    expect(splits).toBeGreaterThan(3);
  });

  test('fits into a share of a container exactly if fitsTogether says so, which needs no page', () => {
    let verdicts = 0;
    forPairs(({ left, right }) => {
      const { header } = joinedSnapshot(left, right, RULES);
      const { live } = sizesOf(header, encodeHeader(header).length, RULES.limits);
      const [l, r] = [left, right].map((node) => withRows(node, unread)) as [Snapshot, Snapshot];
      // The limits keep a distance, as new numbers and slots may take a byte or two more or less.
      for (const entityBytesMax of [live.entityBytes * 1.8, live.entityBytes * 2.2]) {
        const rules = { ...RULES, splitLimits: { ...RULES.limits, entityBytesMax } };
        const fit = fitsTogether(l.header, r.header, rules, 0.5);
        expect(fit).toBe(fits(live, rules.splitLimits, 0.5));
        if (fit) verdicts += 1;
      }
    });
    expect(verdicts).toBe(SEEDS.length);
  });
});

function inputFor(snapshot: Snapshot, changes: Parameters<typeof evaluated>[1]) {
  const evaluation = evaluated(snapshot, changes, { nowMs: NOW_MS });
  return planInput(snapshot, evaluation, { mustReplace: true, nowMs: NOW_MS });
}

const PARTS = { parts: [{ low: HIGH, container: BEYOND }], commit: 1 };

/** A leaf of one page, between two others. */
function leaf(header: Partial<Header> = {}): Snapshot {
  const pages = [pageOfRecords(0, [['k150', Buffer.from('v')]])];
  const bounds = { container: RIGHT, low: MIDDLE, high: HIGH, right: BEYOND, deadSlots: [{ slot: 3, chunksMost: 1 }] };
  return snapshotWith({ ...bounds, pages, freezeMs: 20, lastSplit: PARTS, ...header });
}

test.each([
  ['the leftmost leaf, or a root', { low: Buffer.alloc(0) }],
  ['a branch', { level: 1 }],
  ['a retired leaf', { state: 'retired' }],
  ['an absorbed leaf', { state: 'merged' }],
] as const)('rule 26: %s cannot be retired', (_, differing: Partial<Header>) => {
  expect(() => retiredHeader({ ...leaf().header, ...differing }, ATTEMPT)).toThrow('only a live leaf');
});

test('rule 30: a stripped leaf keeps bounds, link, numbers and commit ids, and nothing else', () => {
  const retired = retiredHeader(leaf().header, ATTEMPT);
  const stripping = hexId('dddddddddddddddd');
  const header = strippedHeader(retired, stripping, 5);
  const { header: next } = stored(replaceOf(leaf(), header, stripping));
  expect(next).toEqual({
    ...retired,
    state: 'merged',
    createdAtMs: 5,
    commitCount: retired.commitCount + 1,
    commitIds: Buffer.from(ATTEMPT + stripping, 'hex'),
    pages: [],
    layers: [],
    deadSlots: [],
    freezeMs: 0,
    lastSplit: undefined,
  });
  expect(() => strippedHeader(leaf().header, stripping, 5)).toThrow('only a retired leaf');
});

test('rule 27: only a live leaf absorbs, and only the retired leaf that it links to; only a retired leaf is copied', () => {
  const left = snapshotWith({ container: LEFT, high: MIDDLE, right: RIGHT });
  const right = leaf({ state: 'retired' });
  const wrong: [Snapshot, Snapshot][] = [
    [left, leaf()],
    [left, leaf({ state: 'merged' })],
    [left, leaf({ state: 'retired', container: BEYOND })],
    [snapshotWith({ ...left.header, state: 'retired' }), right],
  ];
  for (const pair of wrong) expect(() => joinedSnapshot(...pair, RULES)).toThrow('only a live leaf absorbs');
  expect(joinedSnapshot(left, right, RULES).header.high).toEqual(HIGH);
  const input = { attempt: ATTEMPT, nowMs: 0, container: COPY };
  expect(() => copyOf(leaf(), input, RULES)).toThrow('only a retired leaf');
});

test('rule 27: a leaf that links to the copy names the retired leaf neither as its neighbour nor as a split part', () => {
  const left = leaf({ container: LEFT, low: LOW, high: MIDDLE, right: RIGHT });
  const { header, ...rest } = relinkedSnapshot(left, COPY);
  expect(header).toEqual({ ...left.header, right: COPY, lastSplit: undefined });
  expect({ ...rest, header: left.header }).toEqual(left);
});

test('a leaf that absorbs one neighbour after another keeps using low slots', () => {
  let left = snapshotWith({ container: LEFT, low: EMPTY_LEAF.low, high: LOW, right: RIGHT });
  for (let round = 0; round < 50; round += 1) {
    const right = leaf({ low: LOW, high: HIGH, right: RIGHT, state: 'retired' });
    const { header } = joinedSnapshot(left, right, RULES);
    left = { ...left, header: { ...header, high: LOW, pages: header.pages.slice(-1) } };
  }
  expect(left.header.pages[0]!.slot).toBeLessThan(2);
});
