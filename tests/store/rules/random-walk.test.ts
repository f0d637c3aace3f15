// Random histories from seeds: two or three processes on one database, tiny containers, replies lost, requests late, doubled or failed, a vacuum
// now and then. Whatever happens, each record's answers must be explained by one order, and the structure must be whole.
// A seed that fails is named in the message: run it alone with WALK_SEED=n WALK_COUNT=1.
import { expect, test } from 'vitest';
import { storedRoot, faultsOf, orphansOf } from './structure.ts';
import { walk } from './walk.ts';

const FIRST_SEED = Number(process.env['WALK_SEED'] ?? 1);
const COUNT = Number(process.env['WALK_COUNT'] ?? 200);

test(`${COUNT} random histories keep every promise`, { timeout: 3_600_000 }, async () => {
  let splits = 0;
  let unknowns = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed += 1) {
    const { world, complaints, unknownCount } = await walk(seed);
    expect([seed, ...complaints], `replay with WALK_SEED=${seed} WALK_COUNT=1`).toEqual([seed]);
    expect([seed, ...faultsOf(world.state, 't')]).toEqual([seed]);
    expect([seed, ...orphansOf(world.state, 't')]).toEqual([seed]);
    if (storedRoot(world.state, 't').header.level > 0) splits += 1;
    unknowns += unknownCount;
  }
  // The walks must go where the danger is.
  const isEnough = COUNT < 100 || (splits > COUNT / 2 && unknowns > COUNT / 4);
  expect([isEnough, splits, unknowns]).toEqual([true, splits, unknowns]);
});
