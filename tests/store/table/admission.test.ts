// Bytes and changes that wait are bounded: a call that leaves gives back exactly its room.
import { expect, test } from 'vitest';
import { Admission, type Ticket } from '../../../shared/store/table/table-context.ts';
import { quiet } from '../../support/virtual-runtime.ts';
import { World } from '../rules/world.ts';

const BYTES_MAX = 100;
const COUNT_MAX = 10;

/** Whether the ticket's holder has entered. */
async function hasEntered({ entered }: Ticket): Promise<boolean> {
  let isIn = entered === undefined;
  void entered?.then(() => (isIn = true));
  await quiet();
  return isIn;
}

/** All room was given back, and no more: it can be taken once, and the next has to wait. */
async function expectAllRoomFree(admission: Admission): Promise<void> {
  const all = admission.enter(BYTES_MAX - 1, COUNT_MAX - 1);
  expect(await hasEntered(all)).toBe(true);
  const lastBytes = admission.enter(1, 1);
  expect(await hasEntered(lastBytes)).toBe(true);
  const tooMuch = admission.enter(1, 1);
  expect(await hasEntered(tooMuch)).toBe(false);
  for (const ticket of [tooMuch, lastBytes, all]) ticket.leave();
}

test('a call that enters, at once or from the line, gives its room back when it leaves', async () => {
  const admission = new Admission(BYTES_MAX, COUNT_MAX);
  admission.enter(BYTES_MAX, 1).leave();
  admission.enter(1, COUNT_MAX).leave();
  const inside = admission.enter(60, 6);
  const waiting = admission.enter(60, 6);
  expect(await hasEntered(waiting)).toBe(false);
  inside.leave();
  expect(await hasEntered(waiting)).toBe(true);
  waiting.leave();
  await expectAllRoomFree(admission);
});

test('a call that leaves the line before its turn gives back nothing, and takes no room later', async () => {
  const admission = new Admission(BYTES_MAX, COUNT_MAX);
  const inside = admission.enter(60, 6);
  const left = admission.enter(60, 6);
  const large = admission.enter(60, 6);
  const small = admission.enter(40, 4);
  left.leave();
  expect([await hasEntered(large), await hasEntered(small)]).toEqual([false, false]);
  // Behind it, who fits enters.
  large.leave();
  expect(await hasEntered(small)).toBe(true);
  small.leave();
  inside.leave();
  expect(await hasEntered(left)).toBe(false);
  await expectAllRoomFree(admission);
});

test.each([
  ['bytes', 60, 1],
  ['changes', 1, 6],
])('the line is served in order, even if a later call of fewer %s would fit', async (_, bytes, count) => {
  const admission = new Admission(BYTES_MAX, COUNT_MAX);
  const inside = admission.enter(bytes, count);
  const large = admission.enter(bytes, count);
  const small = admission.enter(1, 1);
  expect(await hasEntered(small)).toBe(false);
  inside.leave();
  expect([await hasEntered(large), await hasEntered(small)]).toEqual([true, true]);
});

test('a call that is larger than the bound enters alone', async () => {
  const admission = new Admission(BYTES_MAX, COUNT_MAX);
  const huge = admission.enter(10 * BYTES_MAX, 10 * COUNT_MAX);
  expect(await hasEntered(huge)).toBe(true);
  const small = admission.enter(1, 1);
  expect(await hasEntered(small)).toBe(false);
  huge.leave();
  expect(await hasEntered(small)).toBe(true);
});

test('a line of 10,000 calls refuses another until one of them leaves', () => {
  const admission = new Admission(BYTES_MAX, COUNT_MAX);
  admission.enter(BYTES_MAX, COUNT_MAX);
  const line = Array.from({ length: 10_000 }, () => admission.enter(1, 1));
  expect(() => admission.enter(1, 1)).toThrow(expect.objectContaining({ code: 'throttled' }));
  line[5_000]!.leave();
  expect(() => admission.enter(1, 1)).not.toThrow();
});

test('calls that ended before they wrote anything leave their room to later ones', async () => {
  const world = new World();
  const table = await world.run(world.process().store.table('t', { codec: 'bytes' }));
  const value = new Uint8Array(500_000);
  const items = Array.from({ length: 14 }, (_, number) => ({ key: `k${number}`, value }));
  // As many bytes as may wait, 64 MiB, and some more.
  for (let call = 0; call < 10; call += 1) await world.run(table.putMany(items, { signal: AbortSignal.abort() }));
  expect(await world.run(table.put('k', new Uint8Array(1)))).toHaveProperty('version');
});
