// Refused hints get a few tries with long pauses. A change that a caller awaits ends the pause.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { Change } from '../../../shared/store/container/change.ts';
import { successor } from '../../../shared/store/container/successor.ts';
import { createEngine, type Engine } from '../../../shared/store/engine/engine.ts';
import { encodeHeader } from '../../../shared/store/format/header.ts';
import { COMMIT_PART, HEADER_PART, rootId } from '../../../shared/store/format/ids.ts';
import { AdaptiveLimit } from '../../../shared/store/io/adaptive-limit.ts';
import { Semaphore } from '../../../shared/store/io/semaphore.ts';
import { Clock } from '../../../shared/store/io/clock.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { Deadlines } from '../../../shared/store/io/deadline.ts';
import { hexId } from '../../support/ids.ts';
import { storedRoot } from '../rules/structure.ts';
import { isWriteOf, World } from '../rules/world.ts';

const ROOT = rootId('t');

/** An engine on an empty table. The first `refusals` commits of its root come too late. */
async function engineRefused(refusals: number) {
  const world = new World();
  const { state, runtime } = world;
  await world.run(world.process().store.table('t', { order: 'key' }));
  const foreign = memoryDriver({ state });
  let tries = 0;
  const driver = memoryDriver({
    state,
    faults: async (call) => {
      if (!isWriteOf('patch', ROOT)(call)) return undefined;
      tries += 1;
      if (tries > refusals) return undefined;
      const { version, header } = storedRoot(state, 't');
      const attempt = hexId(tries.toString(16).padStart(16, '0'));
      const parts = [
        { name: HEADER_PART, bytes: encodeHeader(successor(header, attempt)), chunksBefore: 1 },
        { name: COMMIT_PART, bytes: Buffer.from(attempt, 'hex'), chunksBefore: 1 },
      ];
      await foreign.write([{ kind: 'patch', id: ROOT, version, parts }], { timeoutMs: 1_000 });
      return undefined;
    },
  });
  const clock = new Clock(runtime);
  const engine = createEngine(
    {
      runtime,
      clock,
      tag: '0000',
      cache: new ContainerCache(1_000_000),
      deadlines: new Deadlines(runtime, 30_000),
      readLimit: new AdaptiveLimit(runtime, 64),
      writeLimit: new AdaptiveLimit(runtime, 64),
      commitsAtATime: new Semaphore(8),
      compression: 'none',
    },
    { table: 't', driver },
  );
  return { world, engine, tries: () => tries };
}

/** A change of the root, and a list that fills when it settles. */
function changeOf(engine: Engine, key: string, isHint: boolean) {
  const settled: string[] = [];
  const change = new Change({
    position: Buffer.from(key),
    key: Buffer.from(key),
    order: isHint ? undefined : 'key',
    level: 0,
    bytes: 0,
    begunTick: engine.clock.now().tick,
    action: () => ({ kind: 'write', codec: 0, value: Buffer.from('v'), expiresAtMs: undefined }),
    sink: { settled: (_index, verdict) => void settled.push(verdict.kind) },
    index: 0,
  });
  return { change, settled };
}

test('a hint is tried again after a conflict, and dropped after eight', async () => {
  const seven = await engineRefused(7);
  const lasting = changeOf(seven.engine, 'a', true);
  seven.engine.router.enqueue(ROOT, [lasting.change]);
  await seven.world.runtime.advance(120_000);
  expect([seven.tries(), lasting.settled]).toEqual([8, ['applied']]);
  const eight = await engineRefused(8);
  const dropped = changeOf(eight.engine, 'a', true);
  eight.engine.router.enqueue(ROOT, [dropped.change]);
  await eight.world.runtime.advance(120_000);
  expect([eight.tries(), dropped.settled]).toEqual([8, ['failed']]);
});

test('hints that met conflicts pause, ever longer, and a change that somebody waits for ends the pause', async () => {
  const { world, engine, tries } = await engineRefused(6);
  const hint = changeOf(engine, 'a', true);
  engine.router.enqueue(ROOT, [hint.change]);
  await world.runtime.advance(0);
  expect(tries()).toBe(1);
  while (tries() < 6) await world.runtime.advance(1);
  await world.runtime.advance(0);
  expect([tries(), hint.settled]).toEqual([6, []]);
  const real = changeOf(engine, 'b', false);
  engine.router.enqueue(ROOT, [real.change]);
  await world.runtime.advance(0);
  expect([real.settled, hint.settled]).toEqual([['applied'], ['applied']]);
});

test('another hint does not end the pause', async () => {
  const { world, engine, tries } = await engineRefused(6);
  engine.router.enqueue(ROOT, [changeOf(engine, 'a', true).change]);
  while (tries() < 6) await world.runtime.advance(1);
  const other = changeOf(engine, 'b', true);
  engine.router.enqueue(ROOT, [other.change]);
  await world.runtime.advance(0);
  expect([tries(), other.settled]).toEqual([6, []]);
});
