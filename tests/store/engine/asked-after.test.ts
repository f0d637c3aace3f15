// Rule 3: a write that is not answered in time is asked after by a read, for its own sake alone.
import { expect, test } from 'vitest';
import { twoProcesses } from '../rules/table-steps.ts';

test('a read that asked after a write tells nothing of the next write, however late it is answered', async () => {
  const { world, a, tableA, tableB } = await twoProcesses<number>();
  await world.run(tableA.put('k', 0));
  await world.run(tableB.put('k', 1));
  // The first write is refused after 1.5 s. It is asked after at 1 s, and that reply comes at 3 s;
  // the read is sent once more at 2 s, as it may be lost.
  const repliesMs = { read: [2_000, 0, 3_000, 2_000], write: [1_500, 2_000] };
  a.rule((call) => {
    const ms = call.kind === 'read' || call.kind === 'write' ? repliesMs[call.kind].shift() : undefined;
    return ms === undefined ? undefined : { reply: world.runtime.sleep(ms) };
  });
  a.takeCalls();
  const begunMs = world.runtime.monotonicMs();
  await world.run(tableA.put('k', 2));
  // Had the read of 1 s been heard at 3 s, the second write would have been given up then.
  expect(world.runtime.monotonicMs() - begunMs).toBe(3_500);
  expect(a.takeCalls().map(({ kind }) => kind)).toEqual(['write', 'read', 'read', 'write', 'read', 'read']);
  expect((await world.run(tableB.get('k')))?.value).toBe(2);
});
