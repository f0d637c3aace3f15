// Contests: medians count, each side pays its own processor time, and failed work has no figure.
import { expect, inject, onTestFinished, test } from 'vitest';
import { type Contest, CONTESTS } from '../../../../infra/lab/bench/contest/goals.ts';
import { datastoreKindEntryBytes, plainBytes, unindexedBytes } from '../../../../infra/lab/stored-bytes.ts';
import { takeTurn } from '../../../../infra/lab/bench/contest/turn.ts';
import { type SideSetup, startSide } from '../../../../infra/lab/bench/side-process.ts';
import { goalsOf, rowsOf, tableOf } from '../../../../infra/lab/bench/contests.ts';
import { pairsOf } from '../../../../infra/lab/bench/transports.ts';
import type { Cells } from '../../../../infra/lab/experiments/rounds.ts';
import { ratioOf } from '../../../../shared/lab/report/chapters/schema.ts';
import { afterMs } from '../../../../shared/lab/load/closed-loop.ts';

const CONTEST: Contest = {
  name: 'put',
  inFlight: 1,
  isFar: false,
  rate: { datastore: 3, 'azure-tables': 1 },
  processor: { datastore: 0.5, 'azure-tables': 1 },
};
const ROUNDS = { rounds: 5, turnMs: 100 };
const { signal } = new AbortController();

/** A side whose turns handle these records in `wallMs`, for `processorUs` of processor time. */
function side(...turns: readonly (readonly [records: number, wallMs: number, processorUs: number])[]) {
  let taken = 0;
  const turn = async () => {
    const [records, wallMs, processorUs] = turns[taken++ % turns.length]!;
    return { records, wallMs, processorUs };
  };
  return { turn };
}

/** Our side against one record in 400 ms that costs 600 µs. */
async function contest(ours: ReturnType<typeof side>) {
  return tableOf(await rowsOf(CONTEST, { ours, theirs: side([1, 400, 600]) }, ROUNDS, signal), 'here', 5);
}

function verdictsIn(table: Awaited<ReturnType<typeof contest>>): string[] {
  return goalsOf(CONTEST, table, 'datastore').map(({ verdict, text }) => `${verdict}: ${text}`);
}

const OURS = 'put, 1 in flight: ours';

test('rates are compared by the second, at least; processor time by the record, at most', async () => {
  expect(verdictsIn(await contest(side([10, 20, 1_200])))).toEqual([
    'holds: put, 1 in flight: rate: 200; goal: at least 3.',
    'holds: put, 1 in flight: processor time: 0.20; goal: at most 0.5.',
  ]);
  expect(verdictsIn(await contest(side([1, 400, 600])))).toEqual([
    'does not hold: put, 1 in flight: rate: 1; goal: at least 3.',
    'does not hold: put, 1 in flight: processor time: 1; goal: at most 0.5.',
  ]);
});

test('after a turn to warm up the medians count', async () => {
  const table = await contest(side([100, 400, 1], [9, 400, 1], [2, 400, 1], [5, 400, 1], [4, 400, 1], [3, 400, 1]));
  expect(ratioOf(table, OURS, 'rate')).toBe(4);
});

test('a side that fails has no figure, and its goals are not judged', async () => {
  const table = await contest({ turn: () => Promise.reject(new Error('no')) });
  expect(table.rows.find(({ id }) => id === OURS)!.figures['rate']).toEqual({ failed: 'no' });
  expect(verdictsIn(table)[0]).toBe('open: put, 1 in flight: rate: not known; goal: at least 3.');
});

/** Clocks that `pass` alone moves. */
function clocks() {
  const now = { ms: 1_000, us: 5_000 };
  const pass = (ms: number, us: number): void => void Object.assign(now, { ms: now.ms + ms, us: now.us + us });
  return { monotonicMs: () => now.ms, processorUs: () => now.us, pass };
}

test('a call that outlasts its turn counts with its time', async () => {
  const at = clocks();
  const work = async (): Promise<number> => {
    at.pass(400, 700);
    return 3;
  };
  const turn = await takeTurn(work, 1, afterMs(500, at), at);
  expect(turn).toEqual({ records: 6, wallMs: 800, processorUs: 1_400 });
});

test('the records of all callers count', async () => {
  const at = clocks();
  const work = async (): Promise<number> => {
    await new Promise(setImmediate);
    at.pass(1, 1);
    return 2;
  };
  expect((await takeTurn(work, 7, afterMs(1, at), at)).records).toBe(14);
});

test('every kind of work has goals above zero for both providers', () => {
  for (const { rate, processor, isFar } of CONTESTS) {
    for (const ratio of Object.values(rate)) expect(ratio).toBeGreaterThan(0);
    expect(processor === undefined).toBe(isFar);
    for (const ratio of Object.values({ ...processor })) expect(ratio).toBeGreaterThan(0);
  }
});

/** A side on the embedded emulator until the test ends. */
async function sideOf(setup: Pick<SideSetup, 'side' | 'dataset' | 'warmUpOperations' | 'transport'>) {
  const endpoint = inject('embeddedEndpoint');
  const started = await startSide({ provider: 'datastore', endpoint, ...setup }, new AbortController().signal);
  onTestFinished(() => started.close());
  return started;
}

/** Other works take one record a call. */
const RECORDS_OF_A_CALL: Partial<Record<string, number>> = { 'getMany of 500': 500, scan: 10_000, 'bulk put': 10_000 };

test.each(['ours', 'theirs'] as const)('%s works in a process of its own', async (which) => {
  const started = await sideOf({ side: which, dataset: `side${which}`, warmUpOperations: 3 });
  // A bulk put and a scan take longer than a turn, so each caller makes one.
  const size = { inFlight: 1, turnMs: 1 };
  for (const name of ['put', 'get', 'get, leaf not cached', 'getMany of 500', 'scan', 'bulk put'] as const) {
    const turn = await started.turn(name, size);
    expect(turn.records).toBeGreaterThan(0);
    expect(turn.records % (RECORDS_OF_A_CALL[name] ?? 1)).toBe(0);
    expect(turn.processorUs).toBeGreaterThan(0);
  }
});

test.each(['own', 'sdk'] as const)('single entities play over the transport %s, too', async (transport) => {
  const started = await sideOf({ side: 'entities', transport, dataset: 'entities', warmUpOperations: 1 });
  for (const name of ['put', 'get', 'bulk put'] as const) {
    const { records } = await started.turn(name, { inFlight: 1, turnMs: 1 });
    expect(records % (RECORDS_OF_A_CALL[name] ?? 1)).toBe(0);
  }
});

test('packing and transport are told apart: each pair has the ratio of what differs', () => {
  const corners = ['containers, own', 'containers, SDK', 'entities, own', 'entities, SDK'];
  const cells: Cells = new Map(corners.map((corner, index) => [corner, { rate: { runs: [10 ** index] } }]));
  const table = tableOf(pairsOf(CONTESTS[1]!, cells), 'here', 1);
  const ratios = table.rows.filter(({ id, against }) => id !== against).map(({ id }) => ratioOf(table, id, 'rate'));
  expect(ratios).toEqual([0.01, 0.01, 0.1, 0.1]);
});

test('a side that cannot work says why, and one that has ended takes no turn', async () => {
  const started = await sideOf({ side: 'ours', dataset: 'empty', warmUpOperations: 0 });
  await expect(started.turn('get', { inFlight: 1, turnMs: 1 })).rejects.toThrow('absent: ');
  await started.close();
  await expect(started.turn('put', { inFlight: 1, turnMs: 1 })).rejects.toThrow('the process of ours on datastore');
});

const RECORD = {
  key: 't01:customer:1',
  fields: { name: 'Ann', address: 'A', email: 'e', since: '2020', notes: 'long' },
};

test('a plain entity on Azure takes what its formula says', () => {
  // Azure's formula: 4, keys (no colon), then 8 + name + 4 + value a property; 2 bytes a character.
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
