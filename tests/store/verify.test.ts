// Verification finds whatever is damaged, says where, and finds nothing in a table that is well.
import { describe, expect, test } from 'vitest';
import type { EncodedValue, Finding, Order } from '../../shared/store/index.ts';
import { partName } from '../support/ids.ts';
import { copyOf } from './damage.ts';
import { encodeHeader } from '../../shared/store/format/header.ts';
import type { EntityId, PartName } from '../../shared/store/contract/driver.ts';
import { levelsOf, storedIds } from './rules/tree-of.ts';
import { change, damage, flipped, isReadOf, key, text, World } from './rules/world.ts';

const ROOT = 't!t!' as EntityId;
const COUNT = 300;
/** Long beginnings make long separators, and so several branches in the order of keys. */
const KEYS = Array.from({ length: COUNT }, (_, number) => `${'long'.repeat(60)} ${key(number)}`);

const made = new Map<Order, World>();

/** Leaves of several pages. */
async function filled(order: Order): Promise<World> {
  const world = made.get(order) ?? (await fill(order, new World()));
  made.set(order, world);
  return copyOf(world);
}

async function fill(order: Order, world: World): Promise<World> {
  const table = await world.run(world.process().store.table<string>('t', { order }));
  const items = KEYS.map((name) => ({ key: name, value: text(name) }));
  await world.run(table.putMany(items));
  for (const name of KEYS.slice(0, 40)) await world.run(table.put(name, text(name)));
  // A leaf that no commit followed has no commit id in its header.
  await world.run(table.putMany(items.slice(40)));
  return world;
}

function verified(world: World) {
  return world.run(world.process().store.verify('t'));
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

/** Edits the middle leaf's first page, or its header; undefined: it is gone. */
type Edit = (bytes: Buffer, world: World) => Uint8Array | undefined;

/** That part of the leaf to the right. */
const ofAnother =
  (what: 'page' | 'header'): Edit =>
  (_, world) => {
    const { id, header } = middleLeaf(world).right;
    return world.state.entities.get(id)!.parts.get(what === 'page' ? partName(`p${header.pages[0]!.slot}`) : HEADER);
  };

const EDITS: [string, Finding['kind'], 'page' | 'header' | 'commit', Edit][] = [
  ['a bit of a page turned over', 'damaged', 'page', flipped],
  ['a page was cut', 'damaged', 'page', (bytes) => bytes.subarray(0, -3)],
  ['a page is all zeros', 'damaged', 'page', (bytes) => bytes.fill(0)],
  ['a page has bytes behind its end', 'damaged', 'page', (bytes) => Buffer.concat([bytes, bytes])],
  ['a page is gone', 'missing', 'page', () => undefined],
  ['a page lies in the place of another container’s', 'damaged', 'page', ofAnother('page')],
  ['a bit of a header turned over', 'damaged', 'header', flipped],
  ['a header is another container’s', 'damaged', 'header', ofAnother('header')],
  ['a bit of a commit id turned over', 'damaged', 'commit', flipped],
  ['a commit id was cut', 'damaged', 'commit', (bytes) => bytes.subarray(1)],
  ['a commit id is gone', 'damaged', 'commit', () => undefined],
];

/** Edits a part; gives its container's id. */
function edited(world: World, id: EntityId, part: PartName, edit: Edit): EntityId {
  change(world, id, (parts) => {
    const bytes = edit(Buffer.from(parts.get(part)!), world);
    if (bytes === undefined) parts.delete(part);
    else parts.set(part, bytes);
  });
  return id;
}

function without(world: World, id: EntityId): EntityId {
  world.state.entities.delete(id);
  return id;
}

const DAMAGES: [string, Finding['kind'], (world: World) => EntityId][] = [
  ...EDITS.map(([name, kind, what, edit]): (typeof DAMAGES)[number] => [
    name,
    kind,
    (world) => {
      const { id, page } = middleLeaf(world);
      return edited(world, id, { page, header: HEADER, commit: partName('c') }[what], edit);
    },
  ]),
  ['a container is gone', 'missing', (world) => without(world, middleLeaf(world).id)],
  ['a branch is gone', 'missing', (world) => without(world, levelsOf(world.state, 't').at(-2)!.nodes.at(-1)!.id)],
  ['the root is damaged', 'damaged', (world) => edited(world, ROOT, HEADER, flipped)],
];

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
  const { id, page, header } = middleLeaf(world);
  damage(world, id, page);
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

test.each<Order>(['hash', 'key'])('order %s: a header that hides a record is told', async (order) => {
  // Without small limits it is one leaf with layers.
  const world = await fill(order, new World({ limits: {} }));
  // A process that has not read its leaf writes a layer.
  const cold = await world.run(world.process().store.table<string>('t'));
  await world.run(cold.put('more', 'of it'));
  const leaves = levelsOf(world.state, 't').at(-1)!.nodes;
  const { id, header } = leaves.find((leaf) => leaf.header.pages.some((page) => page.fingerprints !== undefined))!;
  const pages = header.pages.map((ref) => ({ ...ref, fingerprints: ref.fingerprints?.map((one) => one ^ 1) }));
  change(world, id, (parts) => void parts.set(HEADER, encodeHeader({ ...header, pages })));
  const { findings } = await verified(world);
  expect(findings[0]).toMatchObject({ kind: 'misplaced', container: id });
  expect(findings[0]!.message).toMatch(/^page \d+ holds a record that its header hides$/);
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

test('leaves that merge behind the walk are no finding, and records that expire meanwhile count', async () => {
  const world = new World();
  const writer = world.process();
  const table = await world.run(writer.store.table<string>('t', { order: 'key', ttlMs: 30_000 }));
  await world.run(table.putMany(KEYS.map((name) => ({ key: name, value: text(name) }))));
  await world.run(table.deleteMany(KEYS.filter((_, index) => index % 4 > 0)));
  const { right } = middleLeaf(world);
  const leaves = () => levelsOf(world.state, 't').at(-1)!.nodes.length;
  const before = leaves();
  const verifier = world.process();
  verifier.once(isReadOf(right.id), async () => {
    await writer.store.vacuum('t', { quietMs: 0 });
    await world.runtime.sleep(30_000);
    return undefined;
  });
  const report = await world.run(verifier.store.verify('t'));
  expect(report).toMatchObject({ findings: [], records: COUNT / 4 });
  expect(leaves()).toBeLessThan(before / 2);
});

test('a read ahead that fails before the walk comes to it fails the call alone', async () => {
  const world = await filled('key');
  const [first, ...others] = levelsOf(world.state, 't').at(-1)!.nodes;
  const verifier = world.process();
  verifier.rule(async (call) => {
    if (others.some(({ id }) => isReadOf(id)(call))) return { fail: 'unavailable' };
    if (isReadOf(first!.id)(call)) await world.runtime.sleep(50_000);
    return undefined;
  });
  await expect(world.run(verifier.store.verify('t'))).rejects.toMatchObject({ code: 'unavailable' });
});
