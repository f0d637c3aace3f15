// Refused repairs of entries get a few tries with long pauses, which a change that a caller awaits
// ends. A repair sets an entry on condition of the child that it still names.
import { expect, test } from 'vitest';
import { Change } from '../../../shared/store/container/change.ts';
import { type Engine, ParentRepair } from '../../../shared/store/engine/engine.ts';
import { rootId } from '../../../shared/store/format/entity-ids.ts';
import { commitRoot } from '../rules/tree-of.ts';
import { isWriteOf, World } from '../rules/world.ts';
import { engineOn } from './engine-on.ts';
import { childId, EMPTY_LEAF } from '../container/nodes.ts';

const ROOT = rootId('t');

/** An engine on an empty table. The first `refusals` commits of its root come too late. */
async function engineRefused(refusals: number) {
  const world = new World();
  await world.run(world.process().store.table('t', { order: 'key' }));
  let tries = 0;
  const driver = world.driver(async (call) => {
    if (isWriteOf('patch', ROOT)(call) && (tries += 1) <= refusals) await commitRoot(world);
    return undefined;
  });
  return { world, engine: engineOn(world.runtime, driver), tries: () => tries };
}

/** A change of the root, and a list that fills when it settles. */
function changeOf(engine: Engine, key: string, isEntryRepair: boolean) {
  const settled: string[] = [];
  const change = new Change({
    position: Buffer.from(key),
    key: Buffer.from(key),
    order: isEntryRepair ? undefined : 'key',
    level: 0,
    bytes: 0,
    begunTick: engine.clock.now().tick,
    action: () => ({ kind: 'write', codec: 0, value: Buffer.from('v'), expiresAtMs: undefined }),
    sink: { settled: (_index, verdict) => void settled.push(verdict.kind) },
    index: 0,
  });
  return { change, settled };
}

test.each([
  [7, 'applied'],
  [8, 'failed'],
])('a hint is tried eight times: after %i conflicts it is %s', async (refusals, end) => {
  const { world, engine, tries } = await engineRefused(refusals);
  const { change, settled } = changeOf(engine, 'a', true);
  engine.router.enqueue(ROOT, [change]);
  await world.runtime.advance(120_000);
  expect([tries(), settled]).toEqual([8, [end]]);
});

test('hints that met conflicts pause, ever longer; a change that somebody waits for ends the pause, another hint does not', async () => {
  const { world, engine, tries } = await engineRefused(6);
  const [hint, other] = [changeOf(engine, 'a', true), changeOf(engine, 'b', true)] as const;
  const real = changeOf(engine, 'c', false);
  engine.router.enqueue(ROOT, [hint.change]);
  await world.runtime.advance(0);
  expect(tries()).toBe(1);
  while (tries() < 6) await world.runtime.advance(1);
  engine.router.enqueue(ROOT, [other.change]);
  await world.runtime.advance(0);
  expect([tries(), hint.settled, other.settled]).toEqual([6, [], []]);
  engine.router.enqueue(ROOT, [real.change]);
  await world.runtime.advance(0);
  expect([real.settled, hint.settled]).toEqual([['applied'], ['applied']]);
});

const { incarnation } = EMPTY_LEAF;

/** What a repair to child 2 does where the branch has an entry to the child `named`. */
function done(instead: string | undefined, named: string | undefined, found = incarnation): string {
  const repairs = new ParentRepair();
  const named64 = instead === undefined ? undefined : childId(instead);
  const entry = { level: 1, incarnation, separator: Buffer.from('m'), child: childId('2'), instead: named64 };
  const { action } = repairs.begin(entry, 1)!;
  if (typeof action !== 'function') throw new TypeError('a repair decides by what it finds');
  const value = named === undefined ? undefined : Buffer.from(childId(named), 'hex');
  const rest = { key: Buffer.from('m'), version: 1, codec: 0, expiresAtMs: undefined };
  return action(value && { ...rest, value }, found).kind;
}

test('rule 29: a repair sets an entry only while it names the child that led astray, and makes one only where there is none', () => {
  expect([done('1', '1'), done('1', '3'), done('1', undefined)]).toEqual(['write', 'none', 'none']);
  expect([done(undefined, undefined), done(undefined, '3')]).toEqual(['write', 'none']);
  expect(done('1', '1', childId('b'))).toBe('none');
});
