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
import type { Reader } from '../../../shared/store/io/reads.ts';
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
      repairs.push(
        level === 1 && under === incarnation ? `${Buffer.from(separator).toString()}${child[0]}` : 'elsewhere',
      );
    },
  });
  return { tree, runtime, reads, repairs };
}

const onTheWay = (passed?: string): Traveller => ({
  position: Q,
  passed: passed === undefined ? undefined : Buffer.from(passed),
});
const at = (digit: string) => ({ id: nodeId(TABLE, incarnation, childId(digit)), incarnation });

const OTHER = { '': '1', m: '2', p: '3' };
const NAMED = { m: '2', p: '3' };
const LATER = { commitCount: 2 };
const ALIEN = root({ '': '1', p: '9' }, 3, { incarnation: hexId('dddddddddddddddd') });

const LONE = root({ '': '1' }, 1);
const SINCE = root({ '': '1' }, 3);
const NEARER = root({ ...OTHER, pz: '5' }, 3);
const ASTRAY = root({ '': '0', o: '1' }, 3);
const FULL = root(OTHER, 3, LATER);
const MOVED = root(OTHER, 3, LATER, 8);

/** A root in memory, the one that is stored, and the parts that the overtaken node names. */
type Seen = readonly [Snapshot | undefined, Snapshot | undefined, Readonly<Record<string, string>>];

test.each<[string, Seen, string, [reads: string, repairs: string]]>([
  ['a node that names the part is gone on from without a request', [LONE, undefined, NAMED], '3', ['', '']],
  ['a part is gone to without a parent in memory too', [undefined, undefined, NAMED], '3', ['', '']],
  ['a parent that names a nearer child by now is believed', [NEARER, undefined, NAMED], '5', ['', '']],
  ['where the node names nothing, its parent is asked for one page', [LONE, FULL, {}], '3', ['slots 3', '']],
  ['where that page moved, the parent is read whole', [LONE, MOVED, {}], '3', ['slots 3, whole', '']],
  ['a parent that was read since leaves the right neighbour, and is told', [SINCE, undefined, {}], '2', ['', 'm2']],
  // Rule 29: the entry is set anew.
  ['an entry that names the overtaken node leads nowhere', [ASTRAY, undefined, {}], '2', ['', 'o2, m2']],
  ['a parent of another incarnation says nothing of the node', [ALIEN, undefined, {}], '2', ['', 'm2']],
  ['nor of its parts', [ALIEN, undefined, NAMED], '3', ['', '']],
])('%s', async (_, [remembered, stored, parts], child, expected) => {
  const { tree, reads, repairs } = treeWith(remembered, stored);
  expect(await tree.beyond(overtaken(2, parts), onTheWay())).toEqual(at(child));
  expect([reads.join(', '), repairs.join(', ')]).toEqual(expected);
});

test('once a second the parent is asked anew although the node names the part, and told of it if it lacks it', async () => {
  const { tree, runtime, reads, repairs } = treeWith(LONE, root({ '': '1' }, 3, LATER));
  await runtime.advance(1_001);
  expect(await tree.beyond(overtaken(2, { m: '2', p: '3' }), onTheWay())).toEqual(at('3'));
  expect([reads, repairs]).toEqual([['slots 3'], ['p3']]);
});

test('who was sent on from the node, or from beyond it, follows links', async () => {
  const { tree } = treeWith(root(OTHER, 3));
  const traveller = onTheWay();
  expect(await tree.beyond(overtaken(2), traveller)).toEqual(at('3'));
  expect(await tree.beyond(overtaken(2), traveller)).toEqual(at('2'));
  expect(await tree.beyond(overtaken(2), onTheWay('n'))).toEqual(at('2'));
});

test('of a branch the page that names the child is read with those that memory lacks, and no other', async () => {
  const stored = snapshotWith({
    container: ROOT_CONTAINER,
    level: 1,
    pages: [pageOfChildren(3, { '': '1', f: '2' }), pageOfChildren(6, { m: '3' }), pageOfChildren(9, { t: '4' })],
  });
  const pages = stored.header.pages.map((page, index) => (index === 0 ? page : unread(page)));
  const remembered = { ...stored, header: { ...stored.header, pages } };
  const { tree, reads } = treeWith(remembered, { ...stored, seen: { tick: 5, wallMs: 0, monotonicMs: 0 } });
  expect(await tree.route(Q, 0)).toEqual(at('3'));
  expect(reads).toEqual(['slots 6,9']);
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
  expect(await tree.find(Q, look)).toBe(last);
});
