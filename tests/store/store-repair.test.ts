// Repair leaves a whole table without a wrong value, loses no readable page, and saves first.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type Store, type StoreOptions, type Taken } from '../../shared/store/index.ts';
import { copyOf, damage, EDITS, type Damage, type Edit, picker, placesOf, storedEntities } from './damage.ts';
import { compareBytes } from '../../shared/store/format/bytes.ts';
import { within } from '../../shared/store/format/position.ts';
import { pagePart } from '../../shared/store/format/entity-ids.ts';
import { faultsOf, leavesOf, levelsOf, statesOf, storedIds, storedNode } from './rules/tree-of.ts';
import type { EntityId, PartName } from '../../shared/store/contract/driver.ts';
import { entityId, partName } from '../support/ids.ts';
import { opened } from './rules/table-steps.ts';
import { change, damage as damagePart, key, type Process, resealed, text, World } from './rules/world.ts';

const KEYS = Array.from({ length: 90 }, (_, number) => `${'long'.repeat(30)} ${key(number)}`);

const HEADER = partName('h');
const COMMIT = partName('c');

/** Each key's values, the last one first; undefined where it is deleted. */
type History = Map<string, (string | undefined)[]>;

/**
 * Layers, several branches, merged leaves, and what a vacuum left that died at its write number
 * `dies`: a leaf in the midst of a merge, and the entries.
 */
async function filled(order: 'hash' | 'key', dies: number): Promise<Filled> {
  const name = `${order} ${dies}`;
  const { world, history } = made.get(name) ?? (await fill(order, dies));
  made.set(name, { world, history });
  return { world: copyOf(world), history: new Map([...history].map(([key, values]) => [key, [...values]])) };
}

interface Filled {
  readonly world: World;
  readonly history: History;
}

const made = new Map<string, Filled>();

async function fill(order: 'hash' | 'key', dies: number): Promise<Filled> {
  const { world, table } = await opened({ order });
  const history: History = new Map();
  const put = async (names: readonly string[], word: string): Promise<void> => {
    for (const name of names) {
      history.set(name, [text(`${name} ${word}`), ...(history.get(name) ?? [])]);
      await world.run(table.put(name, text(`${name} ${word}`)));
    }
  };
  await put(KEYS, 'first');
  const deleted = KEYS.filter((_, index) => index > 20 && index < 70 && index % 4 !== 0);
  for (const name of deleted) history.get(name)!.unshift(undefined);
  await world.run(table.deleteMany(deleted));
  const merger = withoutEntries(world);
  let done = 0;
  merger.rule(({ kind }) => (kind === 'write' && (done += 1) >= dies ? { fail: 'unavailable' } : undefined));
  await world.run(merger.store.vacuum('t', { quietMs: 0 })).catch(() => undefined);
  await put([...KEYS.slice(0, 12), ...KEYS.slice(75)], 'second');
  return { world, history };
}

/** A process that writes no branch: entries stay as they are. */
function withoutEntries(world: World, options: Partial<StoreOptions> = {}): Process {
  const process = world.process(options);
  const isBranch = (id: EntityId): boolean => (storedNode(world.state, 't', id)?.header.level ?? 0) > 0;
  process.rule((call) =>
    call.kind === 'write' && call.writes.some(({ id }) => isBranch(id)) ? { fail: 'unavailable' } : undefined,
  );
  return process;
}

async function repaired(world: World, save: (taken: Taken) => Promise<void> = () => Promise.resolve()) {
  const { store } = world.process();
  return world.run(store.repair('t', { save }));
}

/** Entries, and parts of a split, may name a leaf that merged, or what took it in (12, 29). */
function shapeFaults(world: World): string[] {
  const isAllowed = /under another low|not linked below|names a part that is not linked/;
  return faultsOf(world.state, 't').filter((fault) => !isAllowed.test(fault));
}

/** Each key has its value; one that `mayBeLost` may have an older one, or none. */
async function expectValues(store: Store, history: History, mayBeLost: (name: string) => boolean): Promise<void> {
  const names = [...history.keys()];
  const outcomes = await (await store.table<string>('t', { create: false })).getMany(names);
  for (const [index, outcome] of outcomes.entries()) {
    const [newest, ...older] = history.get(names[index]!)!;
    const value = outcome.status === 'found' ? outcome.value : undefined;
    expect(outcome.status).not.toBe('failed');
    expect(mayBeLost(names[index]!) ? [newest, ...older, undefined] : [newest]).toContain(value);
  }
}

/** A vacuum dies once leaves are retired, once some are absorbed, and once some are stripped. */
const DEATHS = { hash: [7, 8, 10], key: [13, 15, 18] };

/** Some rounds of damage and repair from each of these tables. */
async function expectRounds(order: 'hash' | 'key', rounds: number, atOnce: number): Promise<Set<string>> {
  const met = new Set<string>();
  for (const dies of DEATHS[order]) {
    const { world, history } = await filled(order, dies);
    const stored = new Map(world.state.entities);
    const driver = world.driver();
    const before = await storedEntities(driver, 't');
    const places = placesOf(before, 't');
    const pick = picker(atOnce);
    for (let round = 0; round < rounds; round += 1) {
      restore(world, stored);
      const chosen = new Set(Array.from({ length: atOnce }, () => pick(before)));
      // Every second part is a header or a commit id, which hold links and numbers.
      const partOf = (parts: ReadonlyMap<PartName, unknown>): PartName =>
        pick(pick([[HEADER, COMMIT], [...parts.keys()]]));
      const done = [...chosen].map(({ id, parts }): Damage => ({ id, part: partOf(parts), edit: pick(EDITS) }));
      for (const one of done) {
        met.add(storedNode(world.state, 't', one.id)!.header.state);
        await damage(driver, before, one, pick(before).id);
      }
      try {
        await expectMended(world, history, (key) => done.some((one) => isLostBy(one, places.get(key))));
        await world.run(expectWritable(world.process().store));
      } catch (error) {
        throw new Error(`vacuum ${dies}, round ${round}: ${JSON.stringify(done)}`, { cause: error });
      }
    }
  }
  return met;
}

/** Damage is found and mended. Only what `mayBeLost` is lost, now or by the next vacuum. */
async function expectMended(world: World, history: History, mayBeLost: (name: string) => boolean): Promise<void> {
  const damaged = new Map(world.state.entities);
  await world.run(expectFound(world.process().store, history));
  // Reads mend the entries that lead them astray.
  restore(world, damaged);
  expect((await repaired(world)).verified.findings).toEqual([]);
  const { store } = world.process();
  expect(shapeFaults(world)).toEqual([]);
  await world.run(expectValues(store, history, mayBeLost));
  expect((await repaired(world)).mended).toBe(0);
}

function restore({ state }: World, entities: World['state']['entities']): void {
  state.entities.clear();
  for (const [id, entity] of entities) state.entities.set(id, entity);
}

/** No value is read wrongly, and a verification finds what cannot be read. */
async function expectFound(store: Store, history: History): Promise<void> {
  const names = [...history.keys()];
  const read = async () => (await store.table<string>('t', { create: false })).getMany(names);
  const outcomes = await read().catch(() => names.map((key) => ({ status: 'failed' as const, key })));
  for (const outcome of outcomes)
    if (outcome.status !== 'failed')
      expect(outcome.status === 'found' ? outcome.value : undefined).toBe(history.get(outcome.key)![0]);
  if (outcomes.some(({ status }) => status === 'failed'))
    expect((await store.verify('t')).findingCount).toBeGreaterThan(0);
}

function isLostBy({ id, part, edit }: Damage, place: Pick<Damage, 'id' | 'part'> | undefined): boolean {
  return place?.id === id && (edit === 'removed' || place.part === part);
}

async function expectWritable(store: Store): Promise<void> {
  const table = await store.table<string>('t');
  const items = KEYS.filter((_, at) => at % 3 === 0).map((name) => ({ key: `${name}+`, value: text(name) }));
  expect((await table.putMany(items)).filter(({ status }) => status === 'failed')).toEqual([]);
  const outcomes = await table.getMany(items.map((item) => item.key));
  expect(outcomes).toMatchObject(items.map(({ value }) => ({ status: 'found', value })));
  expect((await store.verify('t')).findings).toEqual([]);
}

test.each([
  ['hash', 12, 1, ['live', 'retired', 'merged']],
  ['key', 12, 1, ['live', 'retired', 'merged']],
  ['hash', 5, 3, ['live']],
  ['key', 5, 3, ['live']],
] as const)(
  'order %s: damaged by vacuums and in %i rounds in %i places, it is told and repaired; nothing else is lost',
  async (order, rounds, atOnce, states) => {
    expect([...(await expectRounds(order, rounds, atOnce))]).toEqual(expect.arrayContaining([...states]));
  },
);

/** The last leaf of this state that a vacuum left unlinked, and the live one that took it in. */
function lastMerge({ state }: World, left: 'retired' | 'merged') {
  const leaves = leavesOf(state, 't');
  const ids = storedIds(state, 't').filter((id) => leaves.every((leaf) => leaf.id !== id));
  const taken = ids.map((id) => storedNode(state, 't', id)!).filter(({ header }) => header.state === left);
  const { low } = taken.map(({ header }) => header).toSorted((a, b) => compareBytes(b.low, a.low))[0]!;
  return { low, owner: leaves.find(({ header }) => within(low, header.low, header.high))! };
}

test.each([
  ['commit id', COMMIT, 'merged', 20],
  ['header', HEADER, 'merged', 20],
  ['header', HEADER, 'retired', 18],
] as const)(
  'a leaf loses its %s (%s) beside the entry of one that it took in, now %s: no record does',
  async (...row) => {
    const [, part, left, dies] = row;
    const { world, history } = await filled('key', dies);
    const { low, owner } = lastMerge(world, left);
    const { id, header } = owner;
    const [name, values] = [...history].find(([key]) => within(Buffer.from(key), low, header.high))!;
    values.unshift(text(`${name} third`));
    const table = await world.run(withoutEntries(world).store.table<string>('t'));
    await world.run(table.put(name, values[0]!));
    expect(faultsOf(world.state, 't').join()).toContain('names a node that is not linked below');
    change(world, id, (parts) => void parts.delete(part));
    const { findings } = await world.run(world.process().store.verify('t'));
    expect(findings).toMatchObject([{ kind: 'damaged', container: id }]);
    await expectMended(world, history, () => false);
    await world.run(world.process().store.vacuum('t', { quietMs: 0 }));
    await world.run(expectValues(world.process().store, history, () => false));
    const kept = [...history.values()].filter(([newest]) => newest !== undefined).length;
    expect((await world.run(world.process().store.verify('t'))).records).toBe(kept);
  },
);

test('where the leftmost branch is lost, the entry of a merged leaf begins no level', async () => {
  const { world, history } = await filled('key', 29);
  const [, { nodes: branches } = { nodes: [] }, { nodes: leaves } = { nodes: [] }] = levelsOf(world.state, 't');
  const second = branches[1]!;
  expect(leaves.some(({ header }) => compareBytes(header.low, second.header.low) === 0)).toBe(false);
  world.state.entities.delete(branches[0]!.id);
  await expectMended(world, history, () => false);
});

test('a header in the place of a page, and a page in that of a header, are damage, not a newer format', async () => {
  const { world, history } = await filled('key', 20);
  const [first, , third] = leavesOf(world.state, 't');
  const places = placesOf(await storedEntities(world.driver(), 't'), 't');
  const part = pagePart(first!.header.pages[0]!.slot);
  change(world, first!.id, (parts) => void parts.set(part, parts.get(HEADER)!));
  // The byte at which a header names its version is the first of a page's incarnation.
  change(world, third!.id, (parts) => void parts.set(HEADER, parts.get(pagePart(third!.header.pages[0]!.slot))!));
  await expectMended(world, history, (name) => isLostBy({ id: first!.id, part, edit: 'swapped' }, places.get(name)));
});

/** The table, damaged in `count` places, and which records that may cost. */
async function damaged(count: number, edits: readonly Edit[] = EDITS, { seed = 7, holding = '' } = {}) {
  const { world, history } = await filled('key', 9);
  const driver = world.driver();
  const before = await storedEntities(driver, 't');
  const places = placesOf(before, 't');
  const among = before.filter(({ id }) => holding === '' || places.get(holding)?.id === id);
  const pick = picker(seed);
  const chosen = new Set(Array.from({ length: count }, () => pick(among)));
  const done = [...chosen].map(({ id, parts }): Damage => ({ id, part: pick([...parts.keys()]), edit: pick(edits) }));
  for (const one of done) await damage(driver, before, one, pick(before).id);
  return { world, history, mayBeLost: (key: string) => done.some((one) => isLostBy(one, places.get(key))) };
}

test('a repair that dies after any of its writes is finished by the next one', async () => {
  for (let writes = 0, isOver = false; !isOver; writes += 1) {
    const { world, history, mayBeLost } = await damaged(4);
    const dying = world.process();
    const isLater = ({ kind }: { kind: string }): boolean => kind === 'write' && dying.writes.length > writes;
    dying.rule((call) => (isLater(call) ? { fail: 'unavailable' } : undefined));
    const ended = await world.run(dying.store.repair('t', { save: () => Promise.resolve(), timeoutMs: 5_000 })).then(
      ({ verified }) => verified.findingCount === 0,
      () => false,
    );
    isOver = ended && dying.writes.length <= writes;
    expect((await repaired(world)).verified.findings).toEqual([]);
    await world.run(expectValues(world.process().store, history, mayBeLost));
    expect(writes).toBeLessThan(50);
  }
});

test('what is taken away is saved before anything is changed: if that fails, nothing is', async () => {
  const { world } = await damaged(3);
  const before = new Map(world.state.entities);
  const { store, writes } = world.process();
  const failing = store.repair('t', { save: () => Promise.reject(new Error('the disk is full')) });
  await expect(world.run(failing)).rejects.toThrow('the disk is full');
  expect(new Map(world.state.entities)).toEqual(before);
  expect(writes).toEqual([]);
});

test('a dry run tells what would be taken away, and writes nothing', async () => {
  const { world } = await damaged(3);
  const before = new Map(world.state.entities);
  const saved: Taken[] = [];
  const save = async (taken: Taken): Promise<void> => void saved.push(taken);
  const { mended } = await world.run(world.process().store.repair('t', { save, dryRun: true }));
  expect([mended, saved.length]).toEqual([3, 3]);
  expect(new Map(world.state.entities)).toEqual(before);
});

test('the saved parts are those that were stored; a lost stretch is named', async () => {
  const { world, history, mayBeLost } = await damaged(1, ['removed'], { holding: KEYS.at(-1)! });
  const saved: Taken[] = [];
  await repaired(world, async (taken) => void saved.push(taken));
  const lost = [...history.keys()].filter((name) => history.get(name)![0] !== undefined && mayBeLost(name));
  expect(lost.length).toBeGreaterThan(0);
  const [{ from, to } = { from: '', to: '' }] = saved[0]!.lost;
  expect(saved).toMatchObject([{ parts: {}, lostKeys: [], olderKeys: [] }]);
  for (const name of lost) expect(name >= from && (to === undefined || name < to)).toBe(true);
});

test('a record beneath a lost page is told, and has a new version: an old one does not fit it', async () => {
  const { world, table } = await opened({ order: 'key' });
  const first = await world.run(table.put('a', 'first'));
  for (const name of ['b', 'c', 'd']) await world.run(table.put(name, name));
  await world.run(table.put('a', 'second'));
  const driver = world.driver();
  const before = await storedEntities(driver, 't');
  const place = placesOf(before, 't').get('a')!;
  const bytes = before[0]!.parts.get(place.part)!;
  await damage(driver, before, { ...place, edit: 'flipped' });
  const saved: Taken[] = [];
  await repaired(world, async (taken) => void saved.push(taken));
  expect(saved[0]!.olderKeys).toContain('a');
  expect(saved[0]!.parts[place.part]).toHaveLength(bytes.length);
  const again = await world.run(world.process().store.table<string>('t'));
  expect(await world.run(again.get('a'))).toMatchObject({ value: 'first' });
  await expect(world.run(again.put('a', 'x', { ifVersion: first.version }))).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('bytes of a newer format, and a table whose root was created anew, are refused unchanged', async () => {
  const { world } = await damaged(2, ['flipped']);
  const [id] = storedIds(world.state, 't');
  const entity = world.state.entities.get(id!)!;
  const header = Buffer.from(entity.parts.get(partName('h'))!);
  header[2] = 2;
  world.state.entities.set(id!, { ...entity, parts: new Map([...entity.parts, [partName('h'), resealed(header)]]) });
  const before = new Map(world.state.entities);
  await expect(repaired(world)).rejects.toThrow(/nothing was changed: it has parts of a newer format/);
  expect(new Map(world.state.entities)).toEqual(before);

  world.state.entities.delete(entityId('t!t!'));
  await world.run(world.process().store.table('t'));
  await expect(repaired(world)).rejects.toThrow(/nothing was changed: nobody dropped/);
});

test('a value that its codec cannot decode is taken away, its neighbours stay', async () => {
  const { world, history } = await filled('key', 20);
  const table = await world.run(world.process().store.table('t', { codec: 'encoded' }));
  await world.run(table.put('bad', { codec: 'msgpack', bytes: Buffer.from([0x91]) }));
  const saved: Taken[] = [];
  await repaired(world, async (taken) => void saved.push(taken));
  expect(saved).toMatchObject([{ lost: [], lostKeys: ['bad'] }]);
  await world.run(expectValues(world.process().store, history, () => false));
});

test.each([1, 2, 3])('seed %i: nothing that is acknowledged beside a repair is lost', async (seed) => {
  const { world, history, mayBeLost } = await damaged(4, EDITS, { seed });
  const { store } = world.process();
  const [acknowledged, doubtful] = [new Set<string>(), new Set<string>()];
  const writing = (async () => {
    const table = await store.table<string>('t');
    for (let round = 0; round < 4; round += 1) {
      const items = KEYS.filter((_, index) => index % 3 === round % 3).map((key) => ({
        key,
        value: text(`${round} ${key}`),
      }));
      for (const [index, { status }] of (await table.putMany(items)).entries()) {
        const { key, value } = items[index]!;
        if (status === 'written') history.get(key)!.unshift(value);
        else history.get(key)!.push(value);
        if (status === 'written') acknowledged.add(key);
        else doubtful.add(key);
      }
    }
  })();
  await world.run(Promise.all([repaired(world), writing.catch(() => undefined)]));
  expect((await repaired(world)).verified.findings).toEqual([]);
  const mayDiffer = (key: string): boolean => doubtful.has(key) || (mayBeLost(key) && !acknowledged.has(key));
  expect(acknowledged.size).toBeGreaterThan(doubtful.size);
  await world.run(expectValues(world.process().store, history, mayDiffer));
});

test.each([
  [HEADER, 'zeroed'],
  [COMMIT, 'dropped'],
] as const)(
  'a table whose root has its %s %s is listed beside the others, and a repair by its name mends it',
  async (part, edit) => {
    const driver = memoryDriver();
    await using store = openStore({ driver });
    await store.table('whole');
    const torn = await store.table('torn', { order: 'key' });
    await torn.putMany(KEYS.map((name) => ({ key: name, value: 1 })));
    const before = await storedEntities(driver, 'torn');
    await damage(driver, before, { id: before[0]!.id, part, edit });
    const damaged = { name: 'torn', damage: expect.stringContaining('header') as string };
    expect(await store.tables()).toEqual([damaged, expect.objectContaining({ name: 'whole', order: 'hash' })]);
    for (const call of [store.table('torn'), store.drop('torn'), store.vacuum('torn', { quietMs: 0 })])
      await expect(call).rejects.toMatchObject({ code: 'corrupt', table: 'torn' });
    await store.repair('torn', { save: async () => {} });
    expect(await store.tables()).toMatchObject([{ name: 'torn', order: 'key' }, { name: 'whole' }]);
  },
);

test('leaves that a repair makes anew begin where groups do, and so do those that it cuts off', async () => {
  const world = new World();
  // The repair does not compress, so it needs more leaves. No branch names what split off later.
  const { store } = withoutEntries(world, { compression: 'zstd' });
  const table = await world.run(store.table<string>('t', { order: 'key', groupBy: '/' }));
  const names = Array.from({ length: 320 }, (_, at) => `${String(at >> 3).padStart(2, '0')}/${key(at)}`);
  const history: History = new Map(names.map((name) => [name, [text(name, 300)]]));
  const items = [...history].map(([name, [value]]) => ({ key: name, value: value! }));
  for (const half of [items.slice(0, 80), items.slice(80)]) await world.run(table.putMany(half));
  const before = leavesOf(world.state, 't');
  expect(levelsOf(world.state, 't')).toHaveLength(2);
  for (const { id } of before) damagePart(world, id, HEADER);
  await expectMended(world, history, () => false);
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(before.length);
});

test('a vacuum that holds a retired leaf in memory loses no put once a repair made it anew', async () => {
  const { world, history } = await filled('key', 1);
  const vacuumer = world.process();
  let mended = 0;
  vacuumer.once(
    ({ kind }) => kind === 'write' && statesOf(world).includes('retired'),
    async () => {
      const retired = leavesOf(world.state, 't').find(({ header }) => header.state === 'retired')!;
      damagePart(world, retired.id, HEADER);
      const { store } = world.process();
      ({ mended } = await store.repair('t', { save: async () => {} }));
      const name = Buffer.from(retired.header.low).toString();
      history.set(name, [text(name)]);
      await (await store.table<string>('t')).put(name, text(name));
      return undefined;
    },
  );
  await world.run(vacuumer.store.vacuum('t', { quietMs: 0 }));
  expect(mended).toBe(1);
  await expectMended(world, history, () => false);
});

test('a leaf that a split links while a repair goes on is mended, not removed', async () => {
  const { world, history } = await filled('key', 1);
  const writer = withoutEntries(world);
  const table = await world.run(writer.store.table<string>('t'));
  const mayLink = Promise.withResolvers<undefined>();
  const repairing: Promise<unknown>[] = [];
  let [inserted, writing]: [EntityId?, Promise<unknown>?] = [];
  const save = async ({ container }: Taken): Promise<void> => {
    if (container !== inserted) return;
    mayLink.resolve(undefined);
    await writing;
  };
  writer.rule((call) => {
    if (call.kind !== 'write' || repairing.length > 0) return undefined;
    const insert = call.writes.find(({ kind }) => kind === 'insert');
    inserted ??= insert?.id;
    if (insert !== undefined || inserted === undefined) return undefined;
    damagePart(world, inserted, HEADER);
    repairing.push(world.process().store.repair('t', { save }));
    return mayLink.promise;
  });
  for (let at = 0; repairing.length === 0; at += 1) {
    const [name, value] = [`${KEYS[80]} ${at}`, text(`new ${at}`)];
    history.set(name, [value]);
    writing = table.put(name, value);
    await world.run(writing);
  }
  await world.run(Promise.all(repairing));
  await expectMended(world, history, () => false);
});
