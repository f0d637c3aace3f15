// The calibration of processor costs: its parts by known answers, then the whole at small size. No
// assertion is about time.
import { expect, inject, onTestFinished, test } from 'vitest';
import { calibrate } from '../../../../infra/lab/calibration/processor/calibrate.ts';
import { costsOf, type Measured } from '../../../../infra/lab/calibration/processor/costs.ts';
import { countedDriver } from '../../../../infra/lab/calibration/processor/counted.ts';
import { processorFile } from '../../../../infra/lab/calibration/processor/table.ts';
import { fitCosts } from '../../../../infra/lab/calibration/processor/fit.ts';
import { type BenchProvider, providerOn } from '../../../../infra/lab/providers.ts';
import { startAzurite } from '../../../../infra/emulators/azurite.ts';
import { memoryDriver } from '../../../../shared/drivers/memory.ts';
import { increase } from '../../../../shared/lab/kit/usage.ts';
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
  // `record` and `kib` grow together in every row, so only their sum is determined.
  expect(found.record + found.kib / 2).toBeCloseTo(3, 5);
});

test('no cost is below 0, and what is explained already is not explained again', () => {
  const falling = [1, 2, 3].map((many) => ({ counts: { one: 1, many }, microseconds: 100 - 10 * many }));
  const found = fitCosts(['one', 'many'], falling);
  expect(found.many).toBe(0);
  expect(found.one).toBeGreaterThan(70);
  expect(fitCosts(['one'], [{ counts: { one: 2 }, microseconds: 50, explained: 10 }]).one).toBeCloseTo(20, 6);
});

test('a counted driver tells what an operation sends, and how lonely it was', async () => {
  const { driver, use } = countedDriver(memoryDriver());
  const store = openStore({ driver });
  onTestFinished(() => store.close());
  const table = await store.table('t');
  await table.put('a', 1);
  const before = use();
  for (let times = 0; times < 4; times += 1) await table.put('a', times);
  const used = increase(before, use());
  expect(used).toMatchObject({ reads: 0, writes: 4, lonelyWrites: 4, entitiesWritten: 4, kibRead: 0 });
  expect(used.kibWritten).toBeGreaterThan(0);
});

const UNUSED = countedDriver(memoryDriver()).use();

/** Loads whose cost in microseconds follows from their reads, entities, KiB and verb. */
function madeOf(
  backend: Measured['backend'],
  cost: { get: number; lone: number; read: number; entity: number; kib: number },
) {
  const loads: Measured[] = [];
  for (const [inFlight, loneliness] of [
    [1, 1],
    [32, 0],
  ] as const)
    for (const [reads, entitiesRead, kibRead] of [
      [1, 1, 4],
      [2, 3, 1],
      [0.5, 4, 40],
      [4, 1, 2],
      [0, 0, 0],
    ] as const) {
      const us =
        cost.get + cost.lone * loneliness + cost.read * reads + cost.entity * entitiesRead + cost.kib * kibRead;
      const use = { ...UNUSED, reads, entitiesRead, kibRead, lonelyReads: reads };
      const kind = { layout: 'container', verb: 'get' } as const;
      loads.push({ backend, kind, inFlight, rounds: [us, us], use });
    }
  return loads;
}

test('the engine’s costs come from memory, and what a provider’s loads cost beyond them is its requests, entities and bytes', () => {
  const engine = { get: 30, lone: 12, read: 5, entity: 2, kib: 1 };
  const provider = { ...engine, read: 400, entity: 25, kib: 10 };
  const record = (['get', 'insert', 'replace', 'conditional'] as const).flatMap((verb) =>
    [1, 32].map((inFlight): Measured => {
      const kind = { layout: 'record', verb } as const;
      return { backend: 'datastore', kind, inFlight, rounds: [500 / inFlight], use: undefined };
    }),
  );
  const batches = [10, 500].map((records): Measured => {
    const kind = { layout: 'batch', verb: 'write', records } as const;
    return { backend: 'datastore', kind, inFlight: 8, rounds: [300 / records + 20], use: undefined };
  });
  const all = [...madeOf('memory', engine), ...madeOf('datastore', provider), ...record, ...batches];
  const { costs, loads } = costsOf('datastore', all);
  expect(costs.container.operation.get.busy).toBeCloseTo(30, 1);
  expect(costs.container.operation.get.alone).toBeCloseTo(42, 1);
  expect(costs.container.request.read.alone).toBeCloseTo(400, 0);
  // Under load a request costs 1/32 of a lone one, as the plain SDK's does.
  expect(costs.container.request.read.busy).toBeCloseTo(400 / 32, 0);
  expect([costs.container.entity.read, costs.container.kib.read].map(Math.round)).toEqual([25, 10]);
  expect(costs.record.get).toEqual({ alone: 500, busy: 500 / 32 });
  expect(costs.batch.write.request).toBeCloseTo(300, 3);
  expect(costs.batch.read).toEqual({ request: 500 / 32, record: 0 });
  expect(loads.every(({ median, fitted }) => Math.abs(fitted - median) <= 1)).toBe(true);
});

async function providers(): Promise<BenchProvider[]> {
  const embedded = { name: 'embedded', endpoint: inject('embeddedEndpoint'), close: async () => {} };
  const azurite = await startAzurite({ inProcess: true });
  const both = [providerOn('datastore', embedded), providerOn('azure-tables', azurite)];
  onTestFinished(async () => void (await Promise.all(both.map((one) => one.close()))));
  return both;
}

test('a small calibration gives a figure for everything', { timeout: 120_000 }, async () => {
  const size = { records: 600, callers: [1, 32], containerBytes: [64 * 1_024], rounds: 1, processorMs: 1 };
  const { costs, loads, rounds } = await calibrate(await providers(), { ...size, signal, log: () => {} });
  expect(Object.keys(costs)).toEqual(['datastore', 'azure-tables']);
  for (const { record, batch, container } of Object.values(costs)) {
    expect(Object.keys(record)).toEqual(['get', 'insert', 'replace', 'conditional']);
    for (const cost of figuresIn(record)) expect(cost).toBeGreaterThan(0);
    for (const cost of figuresIn({ batch, container })) expect(cost).toBeGreaterThanOrEqual(0);
  }
  expect(rounds).toBe(1);
  expect(loads.length).toBeGreaterThan(50);
  expect(loads.every(({ median, fitted }) => median > 0 && fitted >= 0 && fitted < Infinity)).toBe(true);
});

test('the data file is TypeScript that holds the table, in tenths of a microsecond', () => {
  const machine = { cpu: 'one', cores: 1, platform: 'any', node: '24.0.0' };
  const table = { measured: '2026-11-02', machine, packages: {}, rounds: 5, costs: {} as never };
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
