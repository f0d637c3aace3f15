// A commit asks others to leave the container alone. They do so for that time and a little more,
// even if its writer dies.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { encodeHeader } from '../../../shared/store/format/header.ts';
import { COMMIT_PART, HEADER_PART } from '../../../shared/store/format/ids.ts';
import { asBuffer } from '../../../shared/store/format/bytes.ts';
import { successor } from '../../../shared/store/container/successor.ts';
import { entityId, hexId } from '../../support/ids.ts';
import { storedRoot } from '../rules/structure.ts';
import { World } from '../rules/world.ts';

const ROOT = entityId('t!t!');

/** A table of one leaf. Its last commit asks for a hold that the process has not seen. */
async function heldFor(holdForMs: number) {
  const world = new World();
  const mine = world.process();
  const table = await world.run(mine.store.table<number>('t', { order: 'key' }));
  await world.run(table.put('k', 1));
  let commits = 0;
  const commit = async (ms: number): Promise<void> => {
    const { version, header } = storedRoot(world.state, 't');
    const attempt = hexId((commits += 1).toString(16).padStart(16, '0'));
    const parts = [
      { name: HEADER_PART, bytes: encodeHeader({ ...successor(header, attempt), holdForMs: ms }), chunksBefore: 1 },
      { name: COMMIT_PART, bytes: asBuffer(Buffer.from(attempt, 'hex')), chunksBefore: 1 },
    ];
    const driver = memoryDriver({ state: world.state });
    await driver.write([{ kind: 'patch', id: ROOT, version, parts }], { timeoutMs: 1_000 });
  };
  await commit(holdForMs);
  const writes = () => mine.writes.length;
  return { world, mine, table, commit, writes };
}

test('a hold is waited for, and nothing is committed meanwhile', async () => {
  const { world, table, writes } = await heldFor(400);
  const putting = table.put('k', 2);
  await world.runtime.advance(1);
  // The first attempt was refused: it did not know of the hold.
  const tried = writes();
  await world.runtime.advance(390);
  expect(writes()).toBe(tried);
  const before = world.runtime.monotonicMs();
  await world.run(putting);
  expect(world.runtime.monotonicMs() - before).toBeLessThan(150);
  expect(table.stats().rests).toBeGreaterThan(0);
});

test('a hold that another commit ended is waited for no longer than to the next look', async () => {
  const { world, table, commit } = await heldFor(400);
  const putting = table.put('k', 2);
  await world.runtime.advance(1);
  const before = world.runtime.monotonicMs();
  await commit(0);
  await world.run(putting);
  expect(world.runtime.monotonicMs() - before).toBeLessThanOrEqual(1.25 * (400 / 4));
});

test('however often others ask, and for however long, a change is committed in the end', async () => {
  const { world, mine, table, commit } = await heldFor(1_000_000);
  let holds = 0;
  mine.rule(async (call) => {
    // Each look finds a new hold.
    if (call.kind === 'read' && holds < 100) {
      holds += 1;
      await commit(1_000_000);
    }
    return undefined;
  });
  await world.run(table.put('k', 2));
  expect((await world.run(table.get('k')))?.value).toBe(2);
  expect(table.stats().rests).toBeLessThanOrEqual(16);
});
