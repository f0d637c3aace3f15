// The calibration of the model's processor costs: its parts by known answers, and all of it once at small size. No time is expected of anything.
import { expect, inject, onTestFinished, test } from 'vitest';
import { calibrate } from '../../../../infra/lab/bench/calibrate.ts';
import { countedDriver, usePer } from '../../../../infra/lab/bench/calibration/counted.ts';
import { processorFile } from '../../../../infra/lab/bench/calibration/file.ts';
import { fitCosts } from '../../../../infra/lab/bench/calibration/fit.ts';
import { spend } from '../../../../infra/lab/bench/calibration/turn.ts';
import { azureOn, type BenchProvider, datastoreOn } from '../../../../infra/lab/bench/providers.ts';
import { startAzurite } from '../../../../infra/emulators/azurite.ts';
import { memoryDriver } from '../../../../shared/drivers/memory.ts';
import { openStore } from '../../../../shared/store/index.ts';

const { signal } = new AbortController();

test('the costs that made the rows are found, however different they are', () => {
  const costs = { request: 700, record: 3, kib: 0 };
  const rows = [1, 5, 40, 500].map((record) => ({
    counts: { request: 1, record, kib: record / 2 },
    microseconds: costs.request + record * costs.record,
  }));
  const found = fitCosts(['request', 'record', 'kib'], rows);
  expect(found.request).toBeCloseTo(700, 3);
  // What always comes together can be told apart by nobody.
  expect(found.record + found.kib / 2).toBeCloseTo(3, 5);
});

test('no cost is below 0, and what is explained already is not explained again', () => {
  const falling = [1, 2, 3].map((many) => ({ counts: { one: 1, many }, microseconds: 100 - 10 * many }));
  const found = fitCosts(['one', 'many'], falling);
  expect(found.many).toBe(0);
  expect(found.one).toBeGreaterThan(70);
  expect(fitCosts(['one'], [{ counts: { one: 2 }, microseconds: 50, explained: 10 }]).one).toBeCloseTo(20, 6);
});

test('a turn counts the operations of all its callers', async () => {
  let works = 0;
  const work = async (): Promise<number> => {
    works += 1;
    await new Promise(setImmediate);
    return 3;
  };
  const { operations, microseconds } = await spend(work, 8, { processorMs: 0, worksMin: 40, signal });
  expect(works).toBeGreaterThanOrEqual(40);
  expect(operations).toBe(3 * works);
  expect(microseconds).toBeGreaterThan(0);
});

test('a counted driver tells what an operation sends, and how lonely it was', async () => {
  const { driver, use } = countedDriver(memoryDriver());
  const store = openStore({ driver });
  onTestFinished(() => store.close());
  const table = await store.table('t');
  await table.put('a', 1);
  const before = use();
  for (let times = 0; times < 4; times += 1) await table.put('a', times);
  const each = usePer(4, before, use());
  expect(each).toMatchObject({ reads: 0, writes: 1, lonelyWrites: 1, entitiesWritten: 1, kibRead: 0 });
  expect(each.kibWritten).toBeGreaterThan(0);
});

async function providers(): Promise<BenchProvider[]> {
  const embedded = { name: 'embedded', endpoint: inject('embeddedEndpoint'), close: async () => {} };
  const both = [datastoreOn(embedded), azureOn(await startAzurite({ inProcess: true }))];
  onTestFinished(async () => void (await Promise.all(both.map((one) => one.close()))));
  return both;
}

test('a small calibration gives a figure for everything', { timeout: 120_000 }, async () => {
  const size = {
    records: 600,
    callers: [1, 32],
    containerBytes: [64 * 1_024],
    rounds: 1,
    processorMs: 1,
    signal,
    log: () => {},
  };
  const { costs, loads, rounds } = await calibrate(await providers(), size);
  expect(Object.keys(costs)).toEqual(['datastore', 'azure-tables']);
  for (const { record, batch, container } of Object.values(costs)) {
    expect(Object.keys(record)).toEqual(['get', 'insert', 'replace', 'conditional']);
    for (const cost of figuresIn(record)) expect(cost).toBeGreaterThan(0);
    for (const cost of figuresIn({ batch, container })) expect(cost).toBeGreaterThanOrEqual(0);
    expect(figuresIn(container.request).some((cost) => cost > 0)).toBe(true);
  }
  expect(rounds).toBe(1);
  expect(loads.length).toBeGreaterThan(50);
  for (const { median, lowest, highest, fitted } of loads) {
    expect([median, lowest, highest, fitted].every((figure) => Number.isFinite(figure) && figure >= 0)).toBe(true);
    expect(median).toBeGreaterThan(0);
  }
});

test('the data file is TypeScript that holds the table, in tenths of a microsecond', () => {
  const machine = { cpu: 'one', cores: 1, platform: 'any', node: '24.0.0' };
  const table = { measured: '2026-11-02', machine, packages: {}, rounds: 5, costs: {} as never, loads: [] };
  const text = processorFile({ ...table, costs: { datastore: { record: 1.234 } } as never });
  expect(text).toContain('export const PROCESSOR_2026_11_02: ProcessorTable = {"measured":"2026-11-02"');
  expect(text).toContain('{"datastore":{"record":1.2}}');
});

function figuresIn(value: object): number[] {
  return Object.values(value).flatMap((inner: unknown) => {
    if (typeof inner === 'number') return [inner];
    return typeof inner === 'object' && inner !== null ? figuresIn(inner) : [];
  });
}
