// A node was split after its branch was read: the search goes on from there, at a known cost.
import { expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { EntityId } from '../../../shared/store/contract/driver.ts';
import type { Traveller } from '../../../shared/store/engine/route.ts';
import { Tree } from '../../../shared/store/engine/tree.ts';
import { ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { nodeId } from '../../../shared/store/format/ids.ts';
import { Clock } from '../../../shared/store/io/clock.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { newCounters } from '../../../shared/store/io/counters.ts';
import type { Reader } from '../../../shared/store/io/reader.ts';
import { Turns } from '../../../shared/store/io/turns.ts';
import { hexId } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { childId, EMPTY_LEAF, pageOfChildren, snapshotWith, TABLE, unread } from '../container/nodes.ts';

const { incarnation } = EMPTY_LEAF;
const Q = Buffer.from('q');

/** The leaf of child 1, which now ends at `m`, with these parts of its last split. */
function overtaken(tick: number, parts: Readonly<Record<string, string>> = {}): Snapshot {
  const named = Object.entries(parts).map(([low, digit]) => ({ low: Buffer.from(low), container: childId(digit) }));
  const lastSplit = named.length === 0 ? undefined : { parts: named, commit: 1 };
  const bounds = { high: Buffer.from('m'), right: childId('2') };
  return snapshotWith({ container: childId('1'), ...bounds, lastSplit }, tick);
}

function root(
  children: Readonly<Record<string, string>>,
  tick: number,
  other: Partial<Header> = {},
  slot = 3,
): Snapshot {
  const pages = [pageOfChildren(slot, children)];
  return snapshotWith({ container: ROOT_CONTAINER, level: 1, pages, ...other }, tick);
}

/** A tree that remembers one root, if any, and finds another at the provider. */
function treeWith(remembered: Snapshot | undefined, stored?: Snapshot) {
  const runtime = new VirtualRuntime();
  const cache = new ContainerCache(1_000_000);
  const [reads, repairs]: [string[], string[]] = [[], []];
  const [wallMs, monotonicMs] = [runtime.wallMs(), runtime.monotonicMs()];
  if (remembered !== undefined) cache.offer({ ...remembered, seen: { ...remembered.seen, wallMs, monotonicMs } });
  const show = (how: string, isWhole: boolean, slots: readonly number[] = []) => {
    reads.push(how);
    if (stored === undefined) return Promise.resolve(undefined);
    const pages = stored.header.pages.map((ref) => (isWhole || slots.includes(ref.slot) ? ref : unread(ref)));
    return Promise.resolve(cache.offer({ ...stored, header: { ...stored.header, pages } }));
  };
  const reader = {
    readPages: (_id: EntityId, slots: readonly number[]) => show(`slots ${slots.join()}`, false, slots),
    readWhole: () => show('whole', true),
  };
  const tree = new Tree({
    table: TABLE,
    reader: reader as unknown as Reader,
    cache,
    clock: new Clock(runtime),
    counters: newCounters(),
    turns: new Turns(runtime),
    repair: ({ level, incarnation: under, separator, child }) => {
      repairs.push(`${level} ${under} ${Buffer.from(separator).toString()} ${child}`);
    },
  });
  return { tree, runtime, reads, repairs };
}

const onTheWay = (passed?: string): Traveller => ({
  position: Q,
  passed: passed === undefined ? undefined : Buffer.from(passed),
});
const at = (digit: string) => ({ id: nodeId(TABLE, incarnation, childId(digit)), incarnation });

test('a node that names the part is gone on from without a request', async () => {
  const { tree, reads, repairs } = treeWith(root({ '': '1' }, 1));
  expect(await tree.beyond(overtaken(2, { m: '2', p: '3', t: '4' }), onTheWay())).toEqual(at('3'));
  expect([reads, repairs]).toEqual([[], []]);
});

test('a part is gone to without a parent in memory too', async () => {
  const { tree, reads } = treeWith(undefined);
  expect(await tree.beyond(overtaken(2, { m: '2', p: '3' }), onTheWay())).toEqual(at('3'));
  expect(reads).toEqual([]);
});

test('once a second the parent is asked anew although the node names the part, and told of it if it lacks it', async () => {
  const { tree, runtime, reads, repairs } = treeWith(root({ '': '1' }, 1), root({ '': '1' }, 3, { commitCount: 2 }));
  await runtime.advance(1_001);
  expect(await tree.beyond(overtaken(2, { m: '2', p: '3' }), onTheWay())).toEqual(at('3'));
  expect([reads, repairs]).toEqual([['slots 3'], [`1 ${incarnation} p ${childId('3')}`]]);
});

test('a parent that names a child by now, nearer than any part, is believed', async () => {
  const { tree, reads } = treeWith(root({ '': '1', m: '2', p: '3', pz: '5' }, 3));
  expect(await tree.beyond(overtaken(2, { m: '2', p: '3' }), onTheWay())).toEqual(at('5'));
  expect(reads).toEqual([]);
});

test('where the node names nothing, its parent is read anew: one page of it, one request', async () => {
  const { tree, reads } = treeWith(root({ '': '1' }, 1), root({ '': '1', m: '2', p: '3' }, 3, { commitCount: 2 }));
  expect(await tree.beyond(overtaken(2), onTheWay())).toEqual(at('3'));
  expect(reads).toEqual(['slots 3']);
});

test('where that page has another slot by now, the parent is read whole', async () => {
  const now = root({ '': '1', m: '2', p: '3' }, 3, { commitCount: 2 }, 8);
  const { tree, reads } = treeWith(root({ '': '1' }, 1), now);
  expect(await tree.beyond(overtaken(2), onTheWay())).toEqual(at('3'));
  expect(reads).toEqual(['slots 3', 'whole']);
});

test('a parent that was read since the node is not asked again: the right neighbour is next, and told of', async () => {
  const { tree, reads, repairs } = treeWith(root({ '': '1' }, 3));
  expect(await tree.beyond(overtaken(2), onTheWay())).toEqual(at('2'));
  expect([reads, repairs]).toEqual([[], [`1 ${incarnation} m ${childId('2')}`]]);
});

test('an entry that names the overtaken node itself leads nowhere, whatever memory has of the node', async () => {
  const { tree, repairs } = treeWith(root({ '': '0', o: '1' }, 3));
  expect(await tree.beyond(overtaken(2), onTheWay())).toEqual(at('2'));
  // Rule 29: it is set anew.
  expect(repairs).toContain(`1 ${incarnation} o ${childId('2')}`);
});

test('who was sent on from the node, or from beyond it, follows links', async () => {
  const { tree } = treeWith(root({ '': '1', m: '2', p: '3' }, 3));
  const traveller = onTheWay();
  expect(await tree.beyond(overtaken(2), traveller)).toEqual(at('3'));
  expect(await tree.beyond(overtaken(2), traveller)).toEqual(at('2'));
  expect(await tree.beyond(overtaken(2), onTheWay('n'))).toEqual(at('2'));
});

test('a parent of another incarnation says nothing of the node', async () => {
  const other = hexId('dddddddddddddddd');
  const { tree } = treeWith(root({ '': '1', p: '9' }, 3, { incarnation: other }));
  expect(await tree.beyond(overtaken(2), onTheWay())).toEqual(at('2'));
  expect(await tree.beyond(overtaken(2, { m: '2', p: '3' }), onTheWay())).toEqual(at('3'));
});

test('a branch is known by single pages: the one that names the child is read, and no other', async () => {
  const stored = snapshotWith({
    container: ROOT_CONTAINER,
    level: 1,
    pages: [pageOfChildren(3, { '': '1', f: '2' }), pageOfChildren(6, { m: '3' }), pageOfChildren(9, { t: '4' })],
  });
  const remembered = { ...stored, header: { ...stored.header, pages: stored.header.pages.map(unread) } };
  const { tree, reads } = treeWith(remembered, { ...stored, seen: { tick: 5, wallMs: 0, monotonicMs: 0 } });
  expect(await tree.route(Q, 0)).toEqual(at('3'));
  expect(reads).toEqual(['slots 6']);
});

test('where a hint leads back to a leaf that was passed, and memory has no room for it, links lead on', async () => {
  const { tree } = treeWith(root({ '': '1', p: '1' }, 9));
  const last = snapshotWith({ container: childId('2'), low: Buffer.from('m') }, 2);
  let looks = 0;
  const look = (id: EntityId): Promise<Snapshot> => {
    looks += 1;
    return looks > 10
      ? Promise.reject(new Error('it goes in a circle'))
      : Promise.resolve(id === at('2').id ? last : overtaken(2));
  };
  expect(await tree.visit(at('1'), Q, 0, look)).toBe(last);
});
