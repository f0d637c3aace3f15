// Processes of another release beside processes of this one. Every clone has one to play with: a copy of its own engine. Earlier releases are
// commits, which a shallow clone does not have: their tests are skipped there, and say so.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { isOther, scenarioBeside } from './beside.ts';
import { missingBeside } from './coverage.ts';
import { type Report, runSeeds } from './parallel.ts';
import { hasCommit, loadRelease, type Release, withRelease } from './release.ts';
import { Process } from './process.ts';
import { run } from './run.ts';
import { scenarioOf } from './scenario.ts';
import { Scheduler } from '../../shared/model/time/scheduler.ts';

const SEEDS = 120;

/** Knows merged leaves, and was the last before the commit that brought this test. */
const KNOWING = '23fc878';
/** The last that knows nothing of them. */
const UNKNOWING = 'c653d08';

async function played(ref: string | undefined, from = 1): Promise<{ report: Report; release: Release }> {
  return withRelease(ref, async (folder) => ({
    report: await runSeeds({ from, count: SEEDS, release: folder }),
    release: await loadRelease(folder),
  }));
}

test('beside a copy of itself the engine loses nothing', { timeout: 600_000 }, async () => {
  const { report, release } = await played(undefined);
  expect(release.knowsMerging).toBe(true);
  expect(report.failures).toEqual([]);
  expect(missingBeside(report.seeds, report.counts, release)).toEqual([]);
});

test.skipIf(!hasCommit(KNOWING))(
  `${KNOWING}, which knows merged leaves, works beside processes that merge`,
  { timeout: 600_000 },
  async () => {
    const { report, release } = await played(KNOWING, 1_001);
    expect(release.knowsMerging).toBe(true);
    expect(report.failures).toEqual([]);
    expect(missingBeside(report.seeds, report.counts, release)).toEqual([]);
    expect(report.counts.get('answer corrupt')).toBeUndefined();
  },
);

// Seeds of it are played by hand alone: it may go in a circle that takes neither time nor requests, and that nothing in its process ends.
test.skipIf(!hasCommit(UNKNOWING))(`${UNKNOWING} is seen not to know merged leaves`, async () => {
  const release = await withRelease(UNKNOWING, loadRelease);
  expect(release.knowsMerging).toBe(false);
});

test('an engine that breaks a rule is caught beside another release too', { timeout: 120_000 }, async () => {
  const report = await withRelease(undefined, (folder) =>
    runSeeds({ from: 1, count: 20, workers: 1, mutant: 'write-without-its-condition', release: folder }),
  );
  expect(report.failures).not.toEqual([]);
});

test('a seed beside another release runs the same way twice, and its folder is removed', async () => {
  const [first, second, folder] = await withRelease(undefined, async (each) => {
    const release = await loadRelease(each);
    const scenario = scenarioBeside(3);
    return [await run(scenario, true, release), await run(scenario, true, release), each] as const;
  });
  expect(first.lines.length).toBeGreaterThan(50);
  expect(second.lines).toEqual(first.lines);
  expect(existsSync(folder)).toBe(false);
});

test('the other release is loaded from its folder, and shares nothing with this one but errors', async () => {
  await withRelease(undefined, async (folder) => {
    const errors = readFileSync(path.join(folder, 'shared/store/contract/errors.ts'), 'utf8');
    expect(errors).toMatch(/^export \* from "file:/);
    const [release, own] = [await loadRelease(folder), await import('../../shared/store/index.ts')];
    expect(release.openStore).not.toBe(own.openStore);
  });
});

function started(): Process {
  return new Process(0, new Scheduler(1), scenarioOf(1), () => memoryDriver());
}

test('a process that makes requests, or looks at its clocks, without end is ended', () => {
  const [looking, asking] = [started(), started()];
  for (let look = 0; look <= 100_000; look += 1) looking.life.wallMs();
  for (let request = 0; request < 10_000; request += 1) asking.life.countRequest();
  expect([looking.life.isStuck, looking.life.isDead]).toEqual([true, true]);
  expect([asking.life.isStuck, asking.life.isDead]).toEqual([false, false]);
  asking.life.countRequest();
  expect([asking.life.isStuck, asking.life.isDead]).toEqual([true, true]);
});

test('some process is of the other release in every seed, and some change from life to life', () => {
  const scenarios = Array.from({ length: 50 }, (_, seed) => scenarioBeside(seed));
  expect(scenarios.every(({ other }) => other?.some((lives) => lives !== 'none'))).toBe(true);
  expect(new Set(scenarios.flatMap(({ other }) => other)).size).toBe(4);
  expect([0, 1, 2].map((life) => isOther('even', life))).toEqual([true, false, true]);
  expect([0, 1, 2].map((life) => isOther('odd', life))).toEqual([false, true, false]);
  expect([isOther('all', 1), isOther('none', 1), isOther(undefined, 0)]).toEqual([true, false, false]);
  expect(scenarioOf(1).other).toBeUndefined();
});
