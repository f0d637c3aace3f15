// Rows in which packing was worst against single entities, over three shapes of latencies; and rows
// drawn at random, for what nobody thought of.
import { AZURE_TABLES_2026_11 } from '../../cloud/data/azure-tables-2026-11.ts';
import { DATASTORE_2026_11 } from '../../cloud/data/datastore-2026-11.ts';
import { type Random, randomInt, seededRandom } from '../../kit/random.ts';
import { throughput } from './plan-goals.ts';
import type { Goal, PlanInput, RowInput } from './plan.ts';

type Shape = Pick<RowInput, 'providers' | 'settings'>;

const AS_THE_DATA_SAY: readonly Shape[] = [{}];
/** The split pays for its reads most where they take as long as commits. */
export const COMMIT_AS_GET: readonly Shape[] = [DATASTORE_2026_11, AZURE_TABLES_2026_11].map(
  ({ provider, figures }) => ({
    providers: [provider],
    settings: { 'commit.baseMs': figures['get.baseMs'].middle },
  }),
);
const HEAVY_TAILS: readonly Shape[] = [{ settings: { 'get.sigma': 1, 'commit.sigma': 1, 'getMany.sigma': 1 } }];

const SHAPES = {
  'Latencies as the data say': AS_THE_DATA_SAY,
  'A commit as quick as a get': COMMIT_AS_GET,
  'Latencies with heavy tails': HEAVY_TAILS,
};

const SLOWEST: Goal = { figure: 'slowest', atLeast: 0.5 };

function ofPlain(atLeast = 0.9): Goal[] {
  return [throughput('record', atLeast), SLOWEST];
}

function ofConditional(atLeast = 0.95): Goal[] {
  return [throughput('conditional', atLeast), SLOWEST];
}

/** The second second of cold instances. */
export const SECOND_SECOND = { warmupMs: 1_000, warmupOperationsMax: 200_000, windowMs: 1_000, operationsMax: 200_000 };
const TEN_MS = { 'get.baseMs': 9, 'commit.baseMs': 9, 'getMany.baseMs': 9 };

/** Seconds at an account's limit, whose room of one second would flatter a shorter window. */
const LIMITED = 30_000;

const ROWS: readonly RowInput[] = [
  { workload: 'put', callers: 32, goals: ofPlain() },
  { workload: 'put', instances: 2, callers: 32, goals: ofConditional() },
  { workload: 'put', instances: 8, callers: 32, goals: ofConditional() },
  { workload: 'put', instances: 4, callers: 4, goals: ofConditional() },
  { workload: 'put', instances: 16, callers: 4, goals: ofConditional() },
  { workload: 'put', instances: 16, callers: 4, keys: 'zipfian', goals: ofConditional() },
  { workload: 'put', instances: 16, callers: 4, recordBytes: 4_096, goals: ofConditional(0.9) },
  { workload: 'read', callers: 32, recordBytes: 4_096, goals: ofPlain() },
  { workload: 'put', instances: 64, callers: 4, operationsMax: LIMITED, goals: ofConditional(0.9) },
  { workload: 'put', instances: 64, callers: 4, operationsMax: LIMITED, records: 1_000_000, goals: ofConditional(0.9) },
];

const FIRST_SECONDS: readonly RowInput[] = [
  { workload: 'put', callers: 32, settings: TEN_MS, ...SECOND_SECOND, goals: ofPlain(0.95) },
  { workload: 'put', instances: 64, callers: 4, ...SECOND_SECOND, goals: ofConditional(0.5).slice(0, 1) },
];

/** Callers have met all containers by then: a put takes its read and its write. */
const STEADY: RowInput = {
  workload: 'put',
  instances: 64,
  callers: 4,
  warmupMs: 30_000,
  warmupOperationsMax: 600_000,
  operationsMax: LIMITED,
  goals: ofConditional(),
};

/** Ten seconds to adapt in, then operations enough for each caller's share to mean something. */
const WINDOW = { warmupMs: 10_000, warmupOperationsMax: 60_000, windowMs: 60_000, operationsMax: 8_000 };

export const ROWS_PLAN: PlanInput = {
  name: 'rows',
  window: WINDOW,
  groups: [
    ...Object.entries(SHAPES).map(([title, shapes]) => ({
      title,
      rows: shapes.flatMap((shape) => ROWS.map((row) => ({ ...row, ...shape }))),
    })),
    { title: 'The second second', rows: [...FIRST_SECONDS] },
    { title: 'After half a minute', rows: [STEADY] },
  ],
};

const DRAWN_ROWS = 200;

/** Rows of puts, gets and changes drawn by this seed, each at one provider. */
export function drawnPlan(seed: number): PlanInput {
  const random = seededRandom(seed);
  const rows = Array.from({ length: DRAWN_ROWS }, () => drawnRow(random));
  return {
    name: 'drawn',
    window: { ...WINDOW, warmupOperationsMax: 20_000, operationsMax: 3_000 },
    groups: [{ title: 'Rows drawn at random', rows }],
  };
}

function drawnRow(random: Random): RowInput {
  const one = <T>(choices: readonly T[]): T => choices[randomInt(random, choices.length)]!;
  const shapes = one(Object.values(SHAPES));
  const shape = one(shapes);
  const instances = one([1, 1, 2, 4, 8, 16, 32]);
  return {
    providers: [one(['datastore', 'azure-tables'] as const)],
    ...shape,
    workload: one(['read', 'put', 'put', 'modify', 'ycsb-a', 'ycsb-b'] as const),
    keys: one(['uniform', 'zipfian'] as const),
    records: one([1_000, 10_000, 100_000, 1_000_000]),
    recordBytes: one([100, 500, 1_000, 4_000]),
    instances,
    callers: one([1, 4, 8, 32]),
    seed: randomInt(random, 1_000),
    goals: instances === 1 ? ofPlain() : ofConditional(),
  };
}
