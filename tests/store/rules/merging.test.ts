// Rules 26 to 32: quiet or empty leaves join their left neighbours, while others remember them.
import { expect, test } from 'vitest';
import type { MemoryCall } from '../../../shared/drivers/memory.ts';
import { childrenOf } from '../../../shared/store/container/branch.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { EntityId } from '../../../shared/store/contract/driver.ts';
import { encodeHeader, type Header } from '../../../shared/store/format/header.ts';
import { HEADER_PART } from '../../../shared/store/format/entity-ids.ts';
import type { StoreError, Table } from '../../../shared/store/index.ts';
import { faultsOf, leavesOf, orphansOf, statesOf, storedNode, storedRoot } from './tree-of.ts';
import {
  begun,
  diesAtRetirement,
  fill,
  isRetirement,
  items,
  keys,
  keysBy,
  newcomer,
  open,
  retireOne,
} from './table-steps.ts';
import { change, damage, isReadOf, isWriteOf, key, text, TINY, World } from './world.ts';
import { partName } from '../../support/ids.ts';

const QUIET = { quietMs: 60_000 };

/** A table of about ten leaves that keeps every twentieth of its 200 records. */
async function emptied(options = {}) {
  const world = new World();
  const [writer, vacuumer] = [world.process(options), world.process(options)];
  const table = await open(world, writer);
  await fill(world, table, 0, 200);
  const [kept, dropped] = [true, false].map((isKept) => keys(0, 200).filter((_, at) => (at % 20 === 0) === isKept));
  await world.run(table.deleteMany(dropped!));
  return { world, writer, vacuumer, table, kept: kept! };
}

test('rules 26, 27, 29, 30: emptied leaves become one, what is left of each is a header that says so, and one entry', async () => {
  const { world, vacuumer, table, kept } = await emptied();
  const before = leavesOf(world.state, 't');
  expect(before.length).toBeGreaterThan(6);
  const report = await world.run(vacuumer.store.vacuum('t', QUIET));
  const merged = before.length - 1;
  expect(report).toMatchObject({ merged, stripped: merged, busy: 0, left: 0, removed: 0 });
  // Of the branch's entries only the first is left.
  expect(report.entriesDropped).toBeGreaterThan(5);
  expect(storedRoot(world.state, 't').header.pages.map(({ records }) => records)).toEqual([1]);
  expect(leavesOf(world.state, 't')).toHaveLength(1);
  expect(statesOf(world).toSorted()).toEqual(['live', ...Array(merged).fill('merged')]);
  expect(faultsOf(world.state, 't')).toEqual([]);
  for (const process of [world.process(), world.process()]) {
    expect(await keysBy(world, await open(world, process))).toEqual(kept);
  }
  expect(await keysBy(world, table)).toEqual(kept);
});

test.each([
  ['does not merge leaves that several processes wrote between its two looks', 2, 1 / 3, 1],
  ['merges leaves that one process alone wrote between its looks, and loses none of the writes', 1, 0, 1 / 2],
])('rule 32: a vacuum %s', async (_, writers, least, most) => {
  const { world, vacuumer, table, kept } = await emptied();
  const before = leavesOf(world.state, 't').length;
  const tables = [table, (await newcomer(world)).table].slice(0, writers);
  const vacuuming = world.run(vacuumer.store.vacuum('t', QUIET));
  const writing = async (): Promise<void> => {
    for (let round = 0; round < 5; round += 1) {
      await world.runtime.sleep(10_000);
      for (const each of tables) for (const name of kept) await each.put(name, text(round));
    }
  };
  await world.run(writing());
  const { busy } = await vacuuming;
  expect(busy > 0).toBe(writers > 1);
  const share = leavesOf(world.state, 't').length / before;
  expect(share).toBeGreaterThan(least);
  expect(share).toBeLessThanOrEqual(most);
  for (const name of kept) expect((await world.run(table.get(name)))?.value).toBe(text(4));
  expect(await keysBy(world, table)).toEqual(kept);
});

function isChangeOf(id: string): (call: MemoryCall) => boolean {
  return (call) => isWriteOf('replace', id)(call) || isWriteOf('patch', id)(call);
}

/** A table with a retired leaf whose merger died, and its left neighbour. */
async function retiring(ttlMs?: number) {
  const made = await emptied();
  const { world, table } = made;
  if (ttlMs !== undefined)
    for (let number = 0; number < 200; number += 4)
      await world.run(table.put(`${key(number)}-`, text(number), { ttlMs }));
  const { retired, left, ...rest } = await retireOne(world);
  return { ...made, ...rest, retired: retired.id, left: left.id };
}

/** The first leaf becomes too large to take in its neighbour, which is copied (rule 27). */
async function growFirst(world: World, table: Table<string>): Promise<void> {
  for (let number = 0; number < 27; number += 1) await world.run(table.put(key(0) + String(number), text(number)));
}

function damagePage(world: World, { id, header }: Snapshot): void {
  damage(world, id, partName(`p${header.pages[0]!.slot}`));
}

test('rule 26: a retired leaf that cannot be absorbed yet is not purged', async () => {
  const { world, retired, left } = await retiring(600_000);
  // By now all its records have expired.
  await world.run(world.runtime.sleep(1_000_000));
  const before = world.state.entities.get(retired);
  const vacuumer = world.process();
  vacuumer.rule((call) => (isWriteOf('replace', left)(call) ? { fail: 'unavailable' } : undefined));
  await world.run(vacuumer.store.vacuum('t', { ...QUIET, timeoutMs: 1_000_000 }));
  expect(world.state.entities.get(retired)).toBe(before);
});

test('rule 27: a leaf that took in a neighbour which another vacuum left retired is merged as it is then', async () => {
  const { world, vacuumer, kept } = await emptied();
  const other = world.process();
  // First purge dead records, so that afterwards only merges write leaves.
  const end = vacuumer.rule((call) => (isRetirement(call) ? { fail: 'unavailable' } : undefined));
  await world.run(vacuumer.store.vacuum('t', QUIET));
  end();
  diesAtRetirement(world, other);
  // Between the two looks another vacuum begins, and dies once its first leaf is retired.
  const dying = async (): Promise<string[]> => {
    await world.runtime.sleep(10_000);
    await other.store.vacuum('t', { quietMs: 0 }).catch(() => undefined);
    return statesOf(world);
  };
  const [states] = await world.run(Promise.all([dying(), vacuumer.store.vacuum('t', QUIET)]));
  expect(states).toContain('retired');
  expect(statesOf(world)).not.toContain('retired');
  expect(await keysBy(world, (await newcomer(world)).table)).toEqual(kept);
});

test('rule 14: a copy that nobody linked yet is left alone while its leaf waits, and goes once nobody can link it', async () => {
  const { world, table, left, retired, low } = await retiring();
  // The left neighbour grows, so that a writer makes a copy, and dies before it links it.
  await growFirst(world, table);
  const { process: writer, table: written } = await newcomer(world);
  writer.rule((call) => (isChangeOf(left)(call) ? { fail: 'unavailable' } : undefined));
  await world.run(written.put(low + '!', text('new'), { timeoutMs: 2_000 }).catch(() => undefined));
  await world.run(writer.store.close());
  const [copy] = orphansOf(world.state, 't').filter((id) => world.state.entities.get(id) !== undefined);
  const before = world.state.entities.get(retired);

  const vacuumer = world.process();
  const end = vacuumer.rule((call) => (isChangeOf(left)(call) ? { fail: 'unavailable' } : undefined));
  const options = { timeoutMs: 1_000_000 };
  expect(await world.run(vacuumer.store.vacuum('t', options))).toMatchObject({ removed: 0 });
  expect(world.state.entities.has(copy!)).toBe(true);
  expect(world.state.entities.get(retired)).toBe(before);
  end();
  const { merged, removed } = await world.run(vacuumer.store.vacuum('t', options));
  expect(Math.min(merged, removed)).toBeGreaterThan(0);
  expect(world.state.entities.has(copy!)).toBe(false);
});

test('rule 29: a vacuum drops no entry of a table that grew branches between its two looks', async () => {
  const { world, b: vacuumer, table } = await begun();
  await world.run(table.put(key(0), text(0)));
  const growing = async (): Promise<void> => {
    await world.runtime.sleep(10_000);
    for (const { key: name, value } of items(0, 200)) await table.put(name, value);
  };
  const [, { entriesDropped }] = await world.run(Promise.all([growing(), vacuumer.store.vacuum('t', QUIET)]));
  expect(entriesDropped).toBe(0);
});

/** The leaf behind another, with a new header in the provider. */
function changeBehind(world: World, before: EntityId, next: (header: Header) => Header): Snapshot {
  const leaves = leavesOf(world.state, 't');
  const behind = leaves[leaves.findIndex(({ id }) => id === before) + 1]!;
  change(world, behind.id, (parts) => void parts.set(HEADER_PART, encodeHeader(next(behind.header))));
  return behind;
}

test('rule 27: a retired leaf with a damaged page fails the writes of its own keys alone', async () => {
  const { world, left, retired, behind } = await retiring(1_000_000_000);
  const lows = [left, retired, behind.id].map((id) =>
    Buffer.from(storedNode(world.state, 't', id)!.header.low).toString(),
  );
  damagePage(world, storedNode(world.state, 't', retired)!);
  const { process: writer, table } = await newcomer(world);
  writer.rule(() => world.runtime.sleep(3).then(() => undefined));
  // Some puts to each leaf arrive while the left one takes its neighbour in.
  const putting = Array.from({ length: 40 }, async (_, number) => {
    await world.runtime.sleep(number);
    const put = (first: string) =>
      table.put(`${first}${number}`, text(number)).then(
        () => 'written',
        (error: StoreError) => error.code,
      );
    return Promise.all(lows.map(put));
  });
  const outcomes = await world.run(Promise.all(putting));
  expect(outcomes).toEqual(outcomes.map(() => ['written', 'corrupt', 'written']));
});

test('rule 27: a leaf behind a retired one with a damaged page is written, even if no entry names it', async () => {
  const world = new World();
  const filler = world.process();
  filler.rule((call) =>
    isWriteOf('patch', 't!t!')(call) && storedRoot(world.state, 't').header.level > 0
      ? { fail: 'unavailable' }
      : undefined,
  );
  const table = await open(world, filler);
  await fill(world, table, 0, 120);
  await world.run(table.deleteMany(keys(0, 120).filter((_, number) => number % 5 > 0)));
  const { retired, behind } = await retireOne(world);
  expect(childrenOf(storedRoot(world.state, 't'), 't').map(({ child }) => child)).not.toContain(
    behind.header.container,
  );
  damagePage(world, retired);
  const { process: writer, table: written } = await newcomer(world);
  await world.run(written.put(`${Buffer.from(behind.header.low).toString()}+`, text('new')));
  expect(writer.calls.length).toBeLessThan(20);
});

test.each(['missing', 'retired'])('rule 27: a put to a %s leaf behind a damaged one soon fails', async (what) => {
  const { world, retired } = await retiring(1_000_000_000);
  const { id, header } = changeBehind(world, retired, (now) => ({ ...now, state: 'retired' }));
  if (what === 'missing') world.state.entities.delete(id);
  damagePage(world, storedNode(world.state, 't', retired)!);
  const { process: writer, table } = await newcomer(world);
  const putting = table.put(Buffer.from(header.low).toString(), 'new');
  await expect(world.run(putting)).rejects.toMatchObject({ code: 'corrupt' });
  expect(writer.calls.length).toBeLessThan(40);
});

test('rules 3, 27: a change that went with an absorb of unknown fate is sent on only once that fate is known', async () => {
  const { world, left, low } = await retiring();
  const { process: writer, table } = await newcomer(world);
  const late = Promise.withResolvers<() => void>();
  let failing = 0;
  let deliver: (() => void) | undefined;
  writer.once(isWriteOf('replace', left), { late: late.resolve });
  // The reads of its fate fail for good. Then the write is applied before the next read.
  writer.rule(async (call) => {
    if (call.kind !== 'read') return undefined;
    if (deliver === undefined && failing === 0 && writer.writes.length === 0) return undefined;
    deliver ??= await late.promise;
    failing += 1;
    if (failing <= 4) return { fail: 'unavailable' };
    if (failing > 5) return undefined;
    deliver();
    return { reply: world.runtime.sleep(2_000) };
  });
  const { version } = await world.run(table.put(low + '!', text('new'), { ifAbsent: true }));
  expect(failing).toBeGreaterThanOrEqual(4);
  expect(await world.run(table.get(low + '!'))).toMatchObject({ version, value: text('new') });
});

test('rules 3, 27: an attempt that landed before its leaf was read to absorb another is found out, and counts once', async () => {
  // The left leaf is so large that an attempt at it reads the one page it needs.
  const world = new World({ limits: { ...TINY, entityBytesMax: 200_000 } });
  const [{ table }, { process: writer, table: written }] = [await newcomer(world), await newcomer(world)];
  for (const { key: name, value } of items(0, 120, 2_000)) await world.run(table.put(name, value));
  const [left, right] = leavesOf(world.state, 't');
  const [low, high] = [right!.header.low, right!.header.high!].map((bound) => Buffer.from(bound).toString());
  await world.run(table.deleteMany(keys(0, 120).filter((name) => name >= low! && name < high!)));
  expect((await retireOne(world)).retired.id).toBe(right!.id);

  // It is answered after the other write met the retired leaf, and applied before the next read.
  const late = Promise.withResolvers<() => void>();
  let looks: number | undefined;
  writer.once(isChangeOf(left!.id), () => {
    const reply = world.runtime.sleep(900).then(() => {
      looks = 0;
    });
    return { late: late.resolve, reply };
  });
  writer.rule(async (call) => {
    if (looks === undefined || !isReadOf(left!.id)(call)) return undefined;
    looks += 1;
    if (looks === 2) (await late.promise)();
    return undefined;
  });
  const [{ version }] = await world.run(
    Promise.all([
      written.put(key(0), text('once'), { ifVersion: (await world.run(written.get(key(0))))!.version }),
      written.put(low!, text('beside it')),
    ]),
  );
  expect(looks).toBe(2);
  expect(written.stats().merges).toBe(1);
  expect(await world.run(table.get(key(0)))).toMatchObject({ version, value: text('once') });
});

test('rule 27: a copy that may not be there is not linked', async () => {
  const { world, table, low } = await retiring();
  await growFirst(world, table);
  const { process: writer, table: written } = await newcomer(world);
  writer.once(isWriteOf('insert'), { fail: 'unavailable' });
  await world.run(written.put(low + '!', text('new')));
  expect(await world.run(table.get(low + '!'))).toMatchObject({ value: text('new') });
  expect(leavesOf(world.state, 't').every(({ header }) => header.state === 'live')).toBe(true);
});

test('rule 27: an insert of a copy whose outcome stays unknown is repeated after pauses, with the same id', async () => {
  const { world, table, low } = await retiring();
  await growFirst(world, table);
  const { process: writer, table: written } = await newcomer(world);
  const isAfterwards = writer.rule(async (call) => {
    await world.runtime.sleep(5);
    return isWriteOf('insert')(call) ? { replyLost: true, fail: 'throttled' } : undefined;
  });
  const putting = written.put(low + '!', text('new'), { timeoutMs: 60_000 });
  // Time for some tries, but not for so many that the commit is given up.
  await world.runtime.advance(1_000);
  isAfterwards();
  await world.run(putting);
  expect(writer.calls.length).toBeLessThan(200);
  const copies = writer.writes.filter(({ kind }) => kind === 'insert');
  expect(copies.length).toBeGreaterThan(3);
  expect(new Set(copies.map(({ id }) => id)).size).toBe(1);
});

test('rule 31: a leaf that was merged meanwhile still tells what became of a write to it', async () => {
  const { world, writer, vacuumer, table, kept } = await emptied();
  const name = `${kept[5]}+`;
  const leaf = leavesOf(world.state, 't').findLast(({ header }) => Buffer.compare(header.low, Buffer.from(name)) <= 0)!;
  let isLost = false;
  writer.once(isChangeOf(leaf.id), () => {
    isLost = true;
    return { replyLost: true };
  });
  writer.rule(async (call) => {
    if (!isLost || call.kind !== 'read') return undefined;
    isLost = false;
    await vacuumer.store.vacuum('t', { quietMs: 0, timeoutMs: 1_000_000 });
    return undefined;
  });
  const { version } = await world.run(table.put(name, text('new'), { ifAbsent: true, timeoutMs: 1_000_000 }));
  expect(storedNode(world.state, 't', leaf.id)!.header.state).toBe('merged');
  expect(await world.run(table.get(name))).toMatchObject({ version, value: text('new') });
});
