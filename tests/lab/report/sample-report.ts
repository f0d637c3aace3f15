// A report of invented figures in every shape that a page shows: clouds, layouts, rungs, open loop,
// sweep, search, failures, leftovers.
import type { Coordinates, Place } from '../../../shared/lab/load/cell.ts';
import { LAYOUTS, MIXES, PROVIDERS, USERS_LAYOUTS, whyNot } from '../../../shared/lab/kit/dimensions.ts';
import { type Figure, figureOf } from '../../../shared/lab/kit/figure.ts';
import { type Plan, planSchema } from '../../../shared/lab/plan/plan.ts';
import type { Circumstances, Report, ReportCell, ReportRun } from '../../../shared/lab/report/report-schema.ts';
import { comparisonsOf } from '../../../shared/lab/report/comparisons.ts';
import { cellsSoFar, reportOf } from '../../../shared/lab/report/report.ts';
import { sentencesOf } from '../../../shared/lab/report/sentences.ts';
import { warningsOf } from '../../../shared/lab/report/warnings.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import { placeOf, result } from '../fakes.ts';

const PLAN: Plan = planSchema.parse({ name: 'sample', repetitions: 6, seed: 7 });

const STEP = [0.97, 1, 1.04, 1.01, 0.99, 1.02] as const;

/** Values a few per cent around `middle`, the same every time. `shift` moves their order. */
function around(middle: number, repetitions: number, shift = 0): Figure {
  return figureOf(Array.from({ length: repetitions }, (_, at) => middle * STEP[(at + shift) % STEP.length]!));
}

const SPEED = { record: 300, batch: 4_000, container: 9_000, 'container-sdk': 6_000 };

interface Shape {
  readonly repetitions: number;
  /** Multiplies the container layout's throughput. */
  readonly containerFactor?: number;
}

/** One caller that loads single records of 500 bytes into Datastore. */
export const COORDINATES: Coordinates = {
  provider: 'datastore',
  layout: 'record',
  workload: 'load',
  recordBytes: 500,
  containerKib: null,
  instances: 1,
  callers: 1,
  ratePerSecond: null,
};

/** One run of 1,000 records in a second. */
const [BASE] = cellsSoFar([{ cell: COORDINATES, repetition: 1, parts: [result()] }], PRICES_2026_11);

const STORE = {
  commits: 90,
  foreignCommits: 7,
  readsFirst: 5,
  yields: 2,
  splits: 3,
  contentionSplits: 1,
  lostSplits: 1,
};

function runOf(repetition: number, rate: number, place: number, isStore: boolean): ReportRun {
  const [run] = BASE!.runs;
  return {
    ...run!,
    repetition,
    recordsPerSecond: rate,
    records: Math.round(rate),
    recordsFirstHalf: Math.round(rate / 2),
    recordsTotal: Math.round(rate * 1.5),
    operations: Math.round(rate),
    latency: { meanMs: 3, p50Ms: 2, p90Ms: 5, p95Ms: 6, p99Ms: 9, p999Ms: null, maxMs: 40 },
    store: isStore ? STORE : null,
    parts: [{ ...run!.parts[0]!, place, recordsPerSecond: rate }],
  };
}

export function sampleCell(change: Partial<Coordinates>, { repetitions, containerFactor = 1 }: Shape): ReportCell {
  const cell = { ...COORDINATES, ...change };
  const providerIndex = PROVIDERS.indexOf(cell.provider);
  const work = cell.workload === 'load' ? 1 : 0.2;
  const size = cell.containerKib === null ? 1 : cell.containerKib / 256;
  const faster = cell.layout === 'container' ? containerFactor : 1;
  const rate = SPEED[cell.layout] * work * faster * size ** 0.3 * (1 + providerIndex / 3) * cell.callers ** 0.6;
  const latency = (times: number): number => (times * cell.callers * 800) / rate + times;
  const rates = around(cell.ratePerSecond ?? rate, repetitions, LAYOUTS.indexOf(cell.layout));
  return {
    ...BASE!,
    ...cell,
    recordsPerCall: MIXES[cell.workload].recordsPerCall,
    recordsPerSecond: rates,
    latency: {
      meanMs: latency(1.2),
      p50Ms: latency(1),
      p90Ms: latency(2),
      p95Ms: latency(2.5),
      p99Ms: cell.callers === 1 ? null : latency(4),
      p999Ms: null,
      maxMs: latency(9),
    },
    operations: Math.round(rate * repetitions),
    errors: cell.layout === 'batch' && cell.callers === 16 ? { '503': 4, conflict: 2 } : {},
    retries: cell.provider === 'datastore' ? null : { '503': 3 },
    requestsPer1000Records: around(cell.layout === 'record' ? 1_000 : 8, repetitions),
    billableOperationsPer1000Records: around(cell.layout === 'container' ? 6 : 1_000, repetitions),
    dollarsPerMillionRecords: around(cell.layout === 'container' ? 0.006 : 0.9, repetitions),
    processorUsPerRecord: around(cell.layout === 'container' ? 100 : 300, repetitions),
    isMachineLimited: cell.callers >= 64,
    runs: rates.values.map((one, at) => runOf(at + 1, one, providerIndex, cell.layout === 'container')),
  };
}

const PLACES = PROVIDERS.map(placeOf);

/** The same places as functions of the real clouds. */
export const CLOUD_PLACES: readonly Place[] = PLACES.map((place) => ({
  ...place,
  ...(place.provider === 'datastore'
    ? { platform: 'google-cloud-run' as const, backend: 'Google Cloud Datastore', region: 'europe-west4' }
    : { platform: 'azure-functions' as const, backend: 'Azure Table Storage', region: 'westeurope' }),
  isEmulator: false,
}));

function cellsOf(shape: Shape): ReportCell[] {
  return PLAN.workloads.flatMap((workload) =>
    PLAN.callers.flatMap((callers) =>
      USERS_LAYOUTS.flatMap((layout) =>
        PROVIDERS.filter((provider) => whyNot(layout, workload, provider) === undefined).map((provider) =>
          sampleCell({ provider, layout, workload, callers }, shape),
        ),
      ),
    ),
  );
}

/** Cells of each kind that a plan may hold beside the closed loop. */
export function unusualCells(shape: Shape): ReportCell[] {
  const container = { layout: 'container', workload: 'ycsb-a' } as const;
  return PROVIDERS.flatMap((provider) => [
    ...[32, 128, 512].map((containerKib) => sampleCell({ provider, ...container, callers: 8, containerKib }, shape)),
    ...[100, 400, 1_600].map((ratePerSecond) =>
      sampleCell({ provider, ...container, callers: 256, ratePerSecond }, shape),
    ),
    sampleCell({ provider, ...container, callers: 8, instances: 4 }, shape),
  ]);
}

export interface SampleOptions extends Partial<Shape> {
  readonly cells?: readonly ReportCell[];
  readonly change?: Partial<Report>;
}

const CIRCUMSTANCES: Circumstances = {
  startedAt: '2026-11-21T10:00:00.000Z',
  durationMs: 120_000,
  coordinator: { cpu: 'Another CPU', cores: 2, memoryBytes: 2 ** 34, platform: 'Linux', node: '24.21.0' },
  versions: { stowage: '0.1.0' },
  commit: '0123456789abcdef0123456789abcdef01234567',
  command: 'npm start -- --seed 7',
  providers: PROVIDERS.map((provider) => ({ provider, ran: true, why: 'asked for' })),
  network: null,
};

/** A whole report; `change` replaces any of its fields. */
export function sampleReport({ repetitions = 6, cells, change = {}, ...shape }: SampleOptions = {}): Report {
  const own = [...(cells ?? cellsOf({ repetitions, ...shape }))];
  const comparisons = comparisonsOf(own, false);
  const nothing = { runs: [], searches: [], failures: [], leftOut: [], leftovers: [], endedEarly: null };
  return {
    ...reportOf(nothing, PLAN, PRICES_2026_11, CIRCUMSTANCES),
    places: [...PLACES],
    cells: own,
    comparisons,
    sentences: sentencesOf(comparisons),
    warnings: warningsOf(PLACES, own),
    ...change,
  };
}
