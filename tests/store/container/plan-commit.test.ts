// What a commit tells other processes: a freeze before a split, and the parts of the last split.
import { expect, test } from 'vitest';
import type { DriverLimits } from '../../../shared/store/contract/driver.ts';
import { type Plan, planCommit } from '../../../shared/store/container/plan-commit.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { lastSplitOf } from '../../../shared/store/container/split.ts';
import { decodeHeader, encodeHeader, type Header, type LastSplit } from '../../../shared/store/format/header.ts';
import { HEADER_PART } from '../../../shared/store/format/entity-ids.ts';
import { hexId } from '../../support/ids.ts';
import { planInput } from './changes.ts';
import { childId, EMPTY_LEAF, pageOfRecords, RULES, snapshotWith } from './nodes.ts';

const PARTS = { parts: [{ low: Buffer.from('m'), container: childId('2') }], commit: 1 };

/** A leaf of four pages up to `m`. */
function leaf(header: Partial<Header> = {}): Snapshot {
  const pages = ['a', 'c', 'e', 'g'].map((low, slot) =>
    pageOfRecords(slot, [
      [low, Buffer.alloc(100, low)],
      [`${low}z`, Buffer.alloc(100, low)],
    ]),
  );
  pages[0] = { ...pages[0]!, low: Buffer.alloc(0) };
  return snapshotWith({ pages, high: Buffer.from('m'), right: childId('2'), container: childId('1'), ...header });
}

/** The plan of a commit that changes no record. */
function plan(
  snapshot: Snapshot,
  asked: Parameters<typeof planInput>[2] = {},
  limits: Partial<DriverLimits> = {},
): Plan {
  const { pages, layers, nextNumber } = snapshot.header;
  const nothing = { dropped: [], deadSlots: [], written: [], verdicts: [], appliedCount: 0 };
  const own = { ...RULES.limits, ...limits };
  const input = planInput(snapshot, { pages, layers, nextNumber, ...nothing }, asked);
  return planCommit(input, { ...RULES, limits: own, splitLimits: own });
}

function update(...args: Parameters<typeof plan>) {
  const planned = plan(...args);
  if (planned.kind !== 'update') throw new Error(`planned ${planned.kind}`);
  const stored = planned.write.parts.find(({ name }) => name === HEADER_PART)!.bytes;
  return { header: planned.header, stored: decodeHeader(stored) };
}

test('only the commit that announces a split asks for a freeze', () => {
  const { header, stored } = update(leaf(), { freezeMs: 30 });
  expect([header.freezeMs, stored.freezeMs]).toEqual([30, 30]);
  expect(update(snapshotWith(header)).stored.freezeMs).toBe(0);
});

test('a commit hands on the parts of the last split, for 32 commits', () => {
  const at = (commitCount: number) => update(leaf({ lastSplit: PARTS, commitCount })).stored.lastSplit;
  expect([at(1), at(32), at(33)]).toEqual([PARTS, PARTS, undefined]);
});

test('a commit drops the parts of the last split rather than split the container for their space', () => {
  const snapshot = leaf({ lastSplit: { ...PARTS, parts: [{ ...PARTS.parts[0]!, low: Buffer.alloc(900, 'm') }] } });
  // The pages take less than 70 % of this, and with the parts more.
  const limits = { entityBytesMax: 3_400 };
  expect(update(snapshot, {}, { entityBytesMax: 6_000 }).stored.lastSplit).toBeDefined();
  expect(update(snapshot, {}, limits).stored.lastSplit).toBeUndefined();
});

function node(low: string, container: number): Header {
  return { ...EMPTY_LEAF, low: Buffer.from(low), container: hexId(container.toString(16).padStart(16, '0')) };
}

/** A node before a split, with its commit count and the parts that it names. */
function before(commitCount: number, lastSplit?: LastSplit): Header {
  return { ...EMPTY_LEAF, commitCount, lastSplit };
}

function lowsOf(lastSplit: LastSplit | undefined): string[] {
  return lastSplit?.parts.map(({ low }) => Buffer.from(low).toString()) ?? [];
}

test.each([
  ['1,024 bytes', RULES.limits.entityBytesMax, 1_024],
  ['a 64th of a small entity', 6_400, 100],
])('the parts that a node names take at most %s, the nearest parts first', (_, entityBytesMax, bytesMax) => {
  const nodes = Array.from({ length: 100 }, (_each, index) => node(`low ${String(index).padStart(3, '0')}`, index));
  const lastSplit = lastSplitOf(nodes, before(1_000_000), { ...RULES.limits, entityBytesMax })!;
  expect(lowsOf(lastSplit)).toEqual(
    nodes.slice(0, lastSplit.parts.length).map(({ low }) => Buffer.from(low).toString()),
  );
  const bytes = encodeHeader(before(1_000_001, lastSplit)).length - encodeHeader(before(1_000_001)).length;
  expect(bytes).toBeLessThanOrEqual(bytesMax);
  expect(bytes).toBeGreaterThan(0.6 * bytesMax);
  const long = [node('x'.repeat(2 * bytesMax), 1)];
  expect(lastSplitOf(long, before(6), { ...RULES.limits, entityBytesMax })).toBeUndefined();
});
