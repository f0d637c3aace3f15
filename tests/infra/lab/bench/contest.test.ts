// Contests: rounds alternate, medians count, processor time goes to whoever spent it, and work that fails is no result.
import { expect, inject, onTestFinished, test } from 'vitest';
import { type Match, type OwnSide, runContest, type Side } from '../../../../infra/lab/bench/contest/contest.ts';
import { GOALS } from '../../../../infra/lab/bench/contest/goals.ts';
import { partsOf, sharesIn } from '../../../../infra/lab/bench/contest/parts.ts';
import {
  datastoreKindEntryBytes,
  plainBytes,
  unindexedBytes,
} from '../../../../infra/lab/bench/contest/stored-bytes.ts';
import { type Clocks, rateOf, takeTurn } from '../../../../infra/lab/bench/contest/turn.ts';
import { startSide } from '../../../../infra/lab/bench/side-process.ts';
import { coldStartsText, processorText, ratesText, storedText } from '../../../../infra/lab/bench/text.ts';
import { median } from '../../../../shared/lab/kit/median.ts';

const MATCH: Match = { name: 'put', provider: 'datastore', inFlight: 1, rttMs: 0, goals: { rate: 3, processor: 0.5 } };
const ROUNDS = { count: 5, turnMs: 100 };

/** A side whose turns handle so many records in so many milliseconds, and cost so many microseconds of processor time. */
function side(log: string[], name: string, [records, elapsedMs, processorUs]: readonly number[]): OwnSide {
  return {
    turn: async () => {
      log.push(name);
      return { records: records!, elapsedMs: elapsedMs!, processorUs: processorUs! };
    },
    parts: async () => {
      log.push('parts');
      return { engine: 0.25, driver: 0.5, other: 0.25 };
    },
  };
}

/** Ours against one record in 400 ms that costs 600 µs. */
function contest(ours: readonly number[], log: string[] = [], theirs: Side = side(log, 'theirs', [1, 400, 600])) {
  return runContest(MATCH, { ours: side(log, 'ours', ours), theirs }, ROUNDS);
}

test('the rate is compared by the second, the processor time by the record, and its parts are those of the median', async () => {
  const { rate, processor, parts } = await contest([10, 20, 1_200]);
  expect(rate).toEqual({ ours: 500, theirs: 2.5, ratio: 200, spread: [200, 200], goal: 3 });
  expect(processor).toEqual({ ours: 120, theirs: 600, ratio: 0.2, spread: [0.2, 0.2], goal: 0.5 });
  expect(parts).toEqual({ engine: 30, driver: 60, other: 30 });
});

test('after a turn of each to warm up, the sides go first in turn; ours is taken apart in a turn of its own', async () => {
  const log: string[] = [];
  await contest([1, 10, 10], log);
  expect(log.join(' ')).toBe('theirs ours ours theirs theirs ours ours theirs theirs ours ours theirs parts');
});

test('a side that fails ends the contest: there is no result of half the work', async () => {
  const failing = { turn: () => Promise.reject(new Error('no')) };
  await expect(contest([1, 10, 10], [], failing)).rejects.toThrow('no');
});

/** Clocks that move when the work does. */
function clocks(): Clocks & { pass(ms: number, us: number): void } {
  let nowMs = 1_000;
  let spentUs = 5_000;
  return {
    monotonicMs: () => nowMs,
    processorUs: () => spentUs,
    pass: (ms, us) => {
      nowMs += ms;
      spentUs += us;
    },
  };
}

test('a call that outlasts its turn counts with its time', async () => {
  const at = clocks();
  const work = async (): Promise<number> => {
    at.pass(400, 700);
    return 3;
  };
  const turn = await takeTurn(work, { inFlight: 1, turnMs: 500 }, at);
  expect(turn).toEqual({ records: 6, elapsedMs: 800, processorUs: 1_400 });
  expect(rateOf(turn)).toBe(7.5);
});

test('so many callers work at a time, and the records of all of them count', async () => {
  let working = 0;
  let most = 0;
  const work = async (): Promise<number> => {
    working += 1;
    most = Math.max(most, working);
    await new Promise(setImmediate);
    working -= 1;
    return 2;
  };
  const { records } = await takeTurn(work, { inFlight: 7, turnMs: 0 }, clocks());
  expect([most, records]).toEqual([7, 14]);
});

test('work that fails ends the turn', async () => {
  await expect(takeTurn(() => Promise.reject(new Error('no')), { inFlight: 2, turnMs: 0 }, clocks())).rejects.toThrow(
    'no',
  );
});

/** A frame, those that it called, and the samples, of 500 µs each, that were taken in itself. */
interface Frame {
  readonly name?: string;
  readonly url?: string;
  readonly calls?: readonly Frame[];
  readonly samples?: number;
}

/** A profile as V8 gives it. The samples come in the order of the frames. */
function profileOf(root: Frame) {
  const nodes: object[] = [];
  const samples: number[] = [];
  const add = ({ name = 'f', url = '', calls = [], samples: own = 0 }: Frame): number => {
    const id = nodes.length + 1;
    const node = { id, callFrame: { functionName: name, url }, children: [] as number[] };
    nodes.push(node);
    for (let left = own; left > 0; left -= 1) samples.push(id);
    node.children.push(...calls.map(add));
    return id;
  };
  add(root);
  return { nodes, samples, timeDeltas: samples.map(() => 500) } as never;
}

const STORE = 'file:///x/shared/store/engine/tree.ts';
const DRIVER = 'file:///x/shared/drivers/datastore/client.ts';

test('a sample counts for the innermost frame that is the store’s, a driver’s or the contest’s', () => {
  const codec = { url: 'file:///x/node_modules/msgpackr/pack.js', calls: [{ url: 'node:buffer', samples: 2 }] };
  const sdk = { url: 'file:///x/node_modules/google-gax/index.js', samples: 3 };
  const driver = { url: DRIVER, calls: [sdk, { url: 'node:net', samples: 1 }] };
  const contestFrame = {
    url: 'file:///x/infra/bench/contest/sample.ts',
    samples: 1,
    calls: [{ url: STORE, calls: [codec, driver] }],
  };
  const profile = profileOf({ name: '(root)', calls: [contestFrame, { name: '(idle)', samples: 50 }] });
  expect(sharesIn(profile, { allUs: 5_000, mainUs: 4_000 })).toEqual({ engine: 0.2, driver: 0.5, other: 0.3 });
});

test('what no frame tells of, sockets and timers, is the driver’s; garbage counts for whoever ran before', () => {
  const calls = [
    { url: STORE, samples: 2 },
    { name: '(garbage collector)', samples: 2 },
    { name: '(program)', samples: 3 },
    { name: '(garbage collector)', samples: 1 },
  ];
  const { engine, driver, other } = sharesIn(profileOf({ name: '(root)', calls }), { allUs: 4_000, mainUs: 4_000 });
  expect([engine, driver, other]).toEqual([0.5, 0.5, 0]);
});

test('samples that say more than the processor gave do not make more than all of it', () => {
  const calls = [
    { url: STORE, samples: 100 },
    { url: DRIVER, samples: 50 },
  ];
  const parts = sharesIn(profileOf({ name: '(root)', calls }), { allUs: 4_000, mainUs: 3_000 });
  expect(parts).toEqual({ engine: 0.5, driver: 0.25, other: 0.25 });
});

test('a process that is sampled tells parts that are all of it', async () => {
  let sum = 0;
  const { engine, driver, other } = await partsOf(async () => {
    for (let index = 0; index < 3e7; index += 1) sum += index % 7;
    await new Promise(setImmediate);
  });
  expect(sum).toBeGreaterThan(0);
  expect(engine).toBe(0);
  expect(driver + other).toBeCloseTo(1, 9);
});

test('medians', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test('the tables mark what falls short of its goal: rates at least, processor time at most', async () => {
  const good = await contest([40, 10, 600]);
  const bad = await contest([1, 400, 600]);
  const [, first, second] = ratesText([good, bad]).split('\n');
  expect(first).toMatch(/1600 {2}1600 to 1600 +3$/);
  expect(second).toMatch(/1\.00 {2}1\.00 to 1\.00 +3 {2}SHORT$/);
  const [, frugal, costly] = processorText([good, bad]).split('\n');
  expect(frugal).toMatch(/600 +15\.0 +3\.8 +7\.5 +3\.8 {2}0\.025 {2}0\.025 to 0\.025 +0\.5$/);
  expect(costly).toMatch(/1\.00 +1\.00 to 1\.00 +0\.5 {2}SHORT$/);
});

test('stored bytes are told with and without index entries where there are any', () => {
  const text = storedText([
    { provider: 'datastore', ours: 100, theirs: 500, theirsUnindexed: 200 },
    { provider: 'azure-tables', ours: 100, theirs: 130, theirsUnindexed: 130 },
  ]);
  const [, indexed, unindexed, azure, ...rest] = text.split('\n');
  expect(indexed).toMatch(/^Datastore, fields indexed as by default +500 +100 +5\.00 +1\.4$/);
  expect(unindexed).toMatch(/^Datastore, no field indexed +200 +100 +2\.00$/);
  expect(azure).toMatch(/^Azure +130 +100 +1\.30 +1\.4 +SHORT$/);
  expect(rest).toEqual([]);
});

test('a cold start is compared with that of an empty function', () => {
  const times = { own: { healthMs: 700, recordMs: 1_000 }, empty: { healthMs: 500, recordMs: 600 } };
  const [, line] = coldStartsText([{ cloud: 'gcp', bundleBytes: 2_048, ...times }]).split('\n');
  expect(line).toMatch(/^gcp +2 KiB +500 +700 +200 +600 +1,000 +400 +300 +SHORT$/);
});

test('every kind of work has goals above zero for both providers', () => {
  for (const { rate, processor, isFar } of GOALS) {
    for (const ratio of Object.values({ ...rate })) expect(ratio).toBeGreaterThan(0);
    expect(processor === undefined).toBe(isFar);
    for (const ratio of Object.values({ ...processor })) expect(ratio).toBeGreaterThan(0);
  }
});

test.each(['ours', 'theirs'] as const)('%s works in a process of its own', async (which) => {
  const setup = { provider: 'datastore', endpoint: inject('embeddedEndpoint'), dataset: `side${which}` } as const;
  const { signal } = new AbortController();
  const started = await startSide({ side: which, ...setup }, signal);
  onTestFinished(() => started.close());
  await started.fill();
  const size = { inFlight: 2, turnMs: 0 };
  for (const [name, records] of [
    ['put', 2],
    ['get, leaf not cached', 2],
    ['getMany of 500', 1_000],
    ['scan', 20_000],
  ] as const) {
    const turn = await started.turn(name, size);
    expect(turn.records).toBe(records);
    expect(turn.processorUs).toBeGreaterThan(0);
  }
  const { engine, driver, other } = await started.parts('getMany of 500', size);
  expect(engine + driver + other).toBeCloseTo(1, 9);
  expect(driver).toBeGreaterThan(0);
  expect(engine > 0).toBe(which === 'ours');
});

test('a side that cannot work says why, and one that has ended takes no turn', async () => {
  const setup = {
    side: 'ours',
    provider: 'datastore',
    endpoint: inject('embeddedEndpoint'),
    dataset: 'empty',
  } as const;
  const started = await startSide(setup, new AbortController().signal);
  onTestFinished(() => started.close());
  await expect(started.turn('get', { inFlight: 1, turnMs: 0 })).rejects.toThrow('a contest handled 0 of 1 records');
  await started.close();
  await expect(started.turn('put', { inFlight: 1, turnMs: 0 })).rejects.toThrow('the process of ours on datastore');
});

const RECORD = {
  key: 't01:customer:1',
  fields: { name: 'Ann', address: 'A', email: 'e', since: '2020', notes: 'long' },
};

test('a plain entity on Azure takes what its formula says', () => {
  // 4, the keys without the colon between them, and for each property 8, its name, 4 and its characters, two bytes each.
  const properties = 8 + 8 + 4 + 6 + (8 + 14 + 4 + 2) + (8 + 10 + 4 + 2) + (8 + 10 + 4 + 8) + (8 + 10 + 4 + 8);
  expect(plainBytes('azure-tables', 'k', RECORD)).toBe(4 + 2 * 13 + properties);
  expect(unindexedBytes('azure-tables', 'k', RECORD)).toBe(4 + 2 * 13 + properties);
});

test('a plain entity on Datastore takes what its formula says, with index entries and without', () => {
  const key = 2 + 15 + 16;
  const sizes = [5 + 4, 8 + 2, 6 + 2, 6 + 5];
  const entries = sizes.reduce((sum, property) => sum + 2 * (key + property + 2 + 32), 0);
  const entity = key + 32 + sizes.reduce((sum, size) => sum + size, 0) + (6 + 5);
  expect(datastoreKindEntryBytes('k', RECORD.key)).toBe(2 + 2 + 15 + 16 + 32);
  const unindexed = entity + datastoreKindEntryBytes('k', RECORD.key);
  expect(unindexedBytes('datastore', 'k', RECORD)).toBe(unindexed);
  expect(plainBytes('datastore', 'k', RECORD)).toBe(unindexed + entries);
});
