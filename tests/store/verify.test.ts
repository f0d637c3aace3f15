// Verification: it finds whatever is damaged, says where, and finds nothing in a table that is
// well, whatever writers do beside it.
import { describe, expect, test } from 'vitest';
import { type EncodedValue, type Finding, type Order, StoreError } from '../../shared/store/index.ts';
import { entityVersion, partName } from '../support/ids.ts';
import { encodeHeader } from '../../shared/store/format/header.ts';
import type { EntityId } from '../../shared/store/contract/driver.ts';
import { picker } from './damage.ts';
import { levelsOf, storedIds } from './rules/structure.ts';
import { key, text, World } from './rules/world.ts';

const ROOT = 't!t!' as EntityId;
const COUNT = 300;
/** Long beginnings make long separators, and so several branches in the order of keys. */
const KEYS = Array.from({ length: COUNT }, (_, number) => `${'long'.repeat(60)} ${key(number)}`);

/** Leaves of several pages, layers above some. */
async function filled(order: Order, world = new World(), keys = KEYS): Promise<World> {
  const table = await world.run(world.process().store.table<string>('t', { order }));
  await world.run(table.putMany(keys.map((name) => ({ key: name, value: text(name) }))));
  for (const name of keys.slice(0, 40)) await world.run(table.put(name, text(name)));
  return world;
}

function verified(world: World) {
  return world.run(world.process().store.verify('t'));
}

type Parts = Map<ReturnType<typeof partName>, Uint8Array>;

/** Changes the stored parts of a container, as nobody but damage does. */
function change(world: World, id: EntityId, edit: (parts: Parts) => void): void {
  const { version, parts, chunksPeak } = world.state.entities.get(id)!;
  const edited: Parts = new Map(parts);
  edit(edited);
  world.state.entities.set(id, { version: entityVersion(`${version}x`), parts: edited, chunksPeak });
}

function changed(parts: Parts, name: ReturnType<typeof partName>, edit: (bytes: Buffer) => Uint8Array): void {
  parts.set(name, edit(Buffer.from(parts.get(name)!)));
}

function flip(bytes: Buffer): Buffer {
  bytes[bytes.length >> 1]! ^= 1;
  return bytes;
}

/** The leaf in the middle of the table, and the name of its first page. */
function middleLeaf(world: World) {
  const leaves = levelsOf(world.state, 't').at(-1)!.nodes;
  const leaf = leaves[leaves.length >> 1]!;
  return { ...leaf, right: leaves[(leaves.length >> 1) + 1]!, page: partName(`p${leaf.header.pages[0]!.slot}`) };
}

describe.each<Order>(['hash', 'key'])('a table of order %s that is well', (order) => {
  test('has no finding, and as many records as were put', async () => {
    const world = await filled(order);
    const report = await verified(world);
    expect(report).toMatchObject({ findings: [], findingCount: 0, records: COUNT, unlinked: 0 });
    expect(report.containers).toBe(storedIds(world.state, 't').length + 1);
    expect(report.branches).toBeGreaterThan(order === 'key' ? 2 : 0);
    const sum = (field: 'containers' | 'bytes'): number => report.levels.reduce((all, level) => all + level[field], 0);
    expect([sum('containers'), sum('bytes')]).toEqual([report.containers, report.bytes]);
    expect(report.levels.at(-1)).toMatchObject({ level: 0, containers: report.containers - report.branches });
    expect(report.fill).toBeGreaterThan(0.2);
    expect(report.fill).toBeLessThan(1);
    expect(report.oldestMs).toBe(levelsOf(world.state, 't')[0]!.nodes[0]!.header.createdAtMs);
  });

  test('counts neither what was deleted nor what has expired', async () => {
    const world = await filled(order);
    const table = await world.run(world.process().store.table<string>('t'));
    await world.run(table.deleteMany(KEYS.slice(0, 100)));
    await world.run(table.put('soon gone', 'x', { ttlMs: 10 }));
    await world.run(world.runtime.sleep(20));
    expect(await verified(world)).toMatchObject({ findings: [], records: COUNT - 100 });
  });
});

const HEADER = partName('h');

const DAMAGES: readonly (readonly [name: string, kind: Finding['kind'], edit: (world: World) => EntityId])[] = [
  ['a bit of a page turned over', 'damaged', (world) => pageOf(world, (bytes) => flip(bytes))],
  ['a page was cut', 'damaged', (world) => pageOf(world, (bytes) => bytes.subarray(0, -3))],
  ['a page is all zeros', 'damaged', (world) => pageOf(world, (bytes) => bytes.fill(0))],
  ['a page has bytes behind its end', 'damaged', (world) => pageOf(world, (bytes) => Buffer.concat([bytes, bytes]))],
  [
    'a page is gone',
    'missing',
    (world) => {
      const { id, page } = middleLeaf(world);
      change(world, id, (parts) => void parts.delete(page));
      return id;
    },
  ],
  [
    'a page lies in the place of another container’s',
    'damaged',
    (world) => {
      const { id, page, right } = middleLeaf(world);
      const other = world.state.entities.get(right.id)!.parts.get(partName(`p${right.header.pages[0]!.slot}`))!;
      change(world, id, (parts) => void parts.set(page, other));
      return id;
    },
  ],
  [
    'a bit of a header turned over',
    'damaged',
    (world) => {
      const { id } = middleLeaf(world);
      change(world, id, (parts) => changed(parts, HEADER, flip));
      return id;
    },
  ],
  [
    'a header is another container’s',
    'damaged',
    (world) => {
      const { id, right } = middleLeaf(world);
      const other = world.state.entities.get(right.id)!.parts.get(HEADER)!;
      change(world, id, (parts) => void parts.set(HEADER, other));
      return id;
    },
  ],
  [
    'a container is gone',
    'missing',
    (world) => {
      const { id } = middleLeaf(world);
      world.state.entities.delete(id);
      return id;
    },
  ],
  [
    'a branch is gone',
    'missing',
    (world) => {
      const { id } = levelsOf(world.state, 't').at(-2)!.nodes.at(-1)!;
      world.state.entities.delete(id);
      return id;
    },
  ],
  [
    'the root is damaged',
    'damaged',
    (world) => {
      change(world, ROOT, (parts) => changed(parts, HEADER, flip));
      return ROOT;
    },
  ],
];

function pageOf(world: World, edit: (bytes: Buffer) => Uint8Array): EntityId {
  const { id, page } = middleLeaf(world);
  change(world, id, (parts) => changed(parts, page, edit));
  return id;
}

describe.each<Order>(['hash', 'key'])('in a table of order %s', (order) => {
  test.each(DAMAGES)('%s: it is told, once, by its container', async (_, kind, edit) => {
    const world = await filled(order);
    const container = edit(world);
    const heard: Finding[] = [];
    const report = await world.run(world.process().store.verify('t', { onFinding: (one) => heard.push(one) }));
    expect(report.findings).toMatchObject([{ kind, container }]);
    expect(heard).toEqual(report.findings);
  });
});

test('a finding names the page and the stretch of keys that it concerns', async () => {
  const world = await filled('key');
  const { page, header } = middleLeaf(world);
  pageOf(world, flip);
  const [finding] = (await verified(world)).findings;
  expect(finding).toMatchObject({ page: Number(page.slice(1)), from: Buffer.from(header.low).toString() });
  expect(finding!.to! > finding!.from).toBe(true);
});

test('a value that its codec cannot decode is told by its key', async () => {
  const world = await filled('key');
  const table = await world.run(world.process().store.table('t', { codec: 'encoded' }));
  const bad: EncodedValue = { codec: 'msgpack', bytes: Buffer.from([0x91]) };
  await world.run(table.put('bad', bad));
  expect((await verified(world)).findings).toMatchObject([{ kind: 'damaged', key: 'bad' }]);
});

test('a leaf whose link skips others is told: a branch still names them', async () => {
  const world = await filled('key');
  const { id, header } = middleLeaf(world);
  const ended = encodeHeader({ ...header, high: undefined, right: undefined });
  change(world, id, (parts) => void parts.set(HEADER, ended));
  const { findings } = await verified(world);
  expect(findings.length).toBeGreaterThan(2);
  expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['misplaced']));
});

test('containers of an incarnation that nobody dropped are foreign: the root was lost', async () => {
  const world = await filled('key');
  const containers = storedIds(world.state, 't').length;
  world.state.entities.delete(ROOT);
  await world.run(world.process().store.table('t'));
  const { findings, findingCount } = await verified(world);
  expect(findingCount).toBe(containers);
  expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['foreign']));
});

test('a table that does not exist is not found', async () => {
  const world = new World();
  await expect(world.run(world.process().store.verify('none'))).rejects.toMatchObject({ code: 'not_found' });
});

test.each(Array.from({ length: 4 }, (_, seed) => seed + 1))(
  'seed %i: nothing is found while others put, delete, split and merge',
  async (seed) => {
    const world = await filled(seed % 2 === 0 ? 'hash' : 'key', new World({ seed }));
    const writer = world.process();
    const table = await world.run(writer.store.table<string>('t'));
    const writing = (async () => {
      for (let round = 0; round < 3; round += 1) {
        const keys = KEYS.filter((_, index) => index % 7 !== round);
        await table.deleteMany(keys);
        await writer.store.vacuum('t', { quietMs: 0 });
        await table.putMany(keys.map((name) => ({ key: name, value: text(name, 60 + 20 * round) })));
      }
    })();
    const verifying = (async () => {
      const { store } = world.process();
      const reports = [];
      for (let round = 0; round < 6; round += 1) reports.push(await store.verify('t'));
      return reports;
    })();
    const [reports] = await world.run(Promise.all([verifying, writing]));
    expect(reports.flatMap(({ findings }) => findings)).toEqual([]);
  },
);

const FEW = KEYS.slice(0, 60);

test('300 times some stored part is damaged: no value read is wrong, and what fails to be read is found', async () => {
  const world = await filled('key', new World(), FEW);
  const stored = new Map(world.state.entities);
  const pick = picker(1);
  for (let round = 0; round < 300; round += 1) {
    world.state.entities.clear();
    for (const [id, entity] of stored) world.state.entities.set(id, entity);
    const id = pick([...stored.keys()]);
    const name = pick([...stored.get(id)!.parts.keys()]);
    const other = stored.get(pick([...stored.keys()]))!.parts.get(name);
    const edits: ((parts: Parts) => void)[] = [
      (parts) => changed(parts, name, flip),
      (parts) => changed(parts, name, (bytes) => bytes.subarray(0, bytes.length >> 1)),
      (parts) => changed(parts, name, (bytes) => bytes.fill(0)),
      (parts) => void parts.delete(name),
      (parts) => void (other === undefined ? parts.delete(name) : parts.set(name, other)),
    ];
    change(world, id, pick(edits));
    const { store } = world.process();
    const failed = await world.run(keysThatFail(store));
    const { findingCount } = await world.run(store.verify('t'));
    expect(failed === 0 || findingCount > 0, `round ${round}: ${id} ${name}`).toBe(true);
  }
});

/** Reads every record and expects its value; counts those that cannot be read. */
async function keysThatFail(store: ReturnType<World['process']>['store']): Promise<number> {
  try {
    const outcomes = await (await store.table<string>('t')).getMany(FEW);
    const read = outcomes.filter((outcome) => outcome.status !== 'failed');
    expect(read).toMatchObject(read.map((outcome) => ({ status: 'found', value: text(outcome.key) })));
    return outcomes.length - read.length;
  } catch (error) {
    if (error instanceof StoreError) return FEW.length;
    throw error;
  }
}
