// Goals for many callers and instances, most of them ratios to the plain layouts.
import type { ModelLayout } from '../../kit/dimensions.ts';
import type { Goal, PlanInput, RowInput } from './plan.ts';

export function throughput(layout: ModelLayout, atLeast: number, row?: string): Goal {
  return { figure: 'throughput', against: { layout, ...(row === undefined ? {} : { row }) }, atLeast };
}

/** Gets against single entities' gets: the latency that is allowed at each number of callers. */
const GETS = [
  { callers: 1, latency: 1.05 },
  { callers: 32, latency: 1.15 },
  { callers: 256, latency: 1.5 },
].map(({ callers, latency }): RowInput => ({
  workload: 'read',
  callers,
  goals: [{ figure: 'p50', against: { layout: 'record' }, atMost: latency }, throughput('record', 0.95)],
}));

const PUTS = [
  { callers: 1, ratio: 0.95 },
  { callers: 32, ratio: 0.95 },
  { callers: 256, ratio: 2 },
].map(({ callers, ratio }): RowInput => ({ workload: 'put', callers, goals: [throughput('record', ratio)] }));

/** Ten seconds to adapt in, and operations enough for each caller's share to mean something. */
const ADAPTED = { warmupOperationsMax: 200_000, operationsMax: 10_000 };

const MANY = [
  { instances: 4, ratio: 0.9 },
  { instances: 16, ratio: 0.85 },
  { instances: 64, ratio: 0.8 },
].map(({ instances, ratio }): RowInput => ({
  workload: 'put',
  instances,
  callers: 4,
  ...ADAPTED,
  goals: [
    throughput('conditional', ratio),
    { figure: 'conflicts', atMost: 0.1 },
    { figure: 'requests', atMost: 2.3 },
    { figure: 'p99', against: { layout: 'conditional' }, atMost: 3 },
    { figure: 'slowest', atLeast: 0.5 },
  ],
}));

const MANY_OF_A_MILLION = [4, 16, 64].map((instances): RowInput => ({
  workload: 'put',
  records: 1_000_000,
  instances,
  callers: 4,
  ...ADAPTED,
  goals: [throughput('conditional', 0.95), { figure: 'conflicts', atMost: 0.02 }],
}));

const LADDER = [1, 2, 4, 8, 16, 32, 64];

/** A step of the ladder: an instance more is never less work done. */
const GROWING = (['read', 'put', 'ycsb-a'] as const).flatMap((workload) =>
  LADDER.map((instances, step): RowInput => ({
    id: `${workload} ${instances}`,
    workload,
    ...(workload === 'ycsb-a' ? { records: 100_000 } : {}),
    instances,
    callers: 4,
    warmupOperationsMax: 1_500,
    operationsMax: 1_500,
    layouts: ['container'],
    goals: step === 0 ? [] : [throughput('container', 1, `${workload} ${LADDER[step - 1]!}`)],
  })),
);

const LOADS = [1, 8, 32].map((callers): RowInput => ({
  workload: 'load',
  callers,
  operationsMax: 100,
  warmupOperationsMax: 50,
  layouts: ['batch', 'container'],
  goals: [{ figure: 'billed', atMost: 10 }],
}));

/** Clouds with other latencies. The goals are those of the middle, 20 % off. */
const TAILED = [
  { 'get.sigma': 1, 'commit.sigma': 1, 'getMany.sigma': 1 },
  { 'get.baseMs': 2, 'commit.baseMs': 2, 'getMany.baseMs': 2 },
  { 'get.baseMs': 50, 'commit.baseMs': 50, 'getMany.baseMs': 50 },
  { 'tail.share': 0.01, 'tail.factor': 10 },
].flatMap((settings): RowInput[] => [
  { workload: 'read', callers: 32, settings, goals: [throughput('record', 0.8 * 0.95)] },
  { workload: 'put', instances: 16, callers: 4, settings, goals: [throughput('conditional', 0.8 * 0.85)] },
]);

export const GOALS_PLAN: PlanInput = {
  name: 'goals',
  window: { warmupOperationsMax: 4_000, operationsMax: 2_600, windowMs: 20_000 },
  groups: [
    { title: 'Strong gets, one warm instance', rows: GETS },
    { title: 'Puts, 10,000 records, one instance', rows: PUTS },
    { title: 'Puts, 10,000 records, instances of 4 callers', rows: MANY },
    { title: 'Puts, 1,000,000 records, instances of 4 callers', rows: MANY_OF_A_MILLION },
    {
      title: 'Half gets, half puts, zipfian, 100,000 records',
      rows: [
        {
          workload: 'ycsb-a',
          records: 100_000,
          instances: 16,
          callers: 8,
          ...ADAPTED,
          goals: [throughput('record', 0.5), { figure: 'slowest', atLeast: 0.3 }],
        },
      ],
    },
    {
      title: 'One record, changed by all',
      rows: [
        { id: 'alone', workload: 'modify', keys: 'one' },
        {
          workload: 'modify',
          keys: 'one',
          instances: 16,
          windowMs: 120_000,
          goals: [
            throughput('conditional', 0.9, 'alone'),
            { figure: 'slowest', atLeast: 0.3 },
            { figure: 'p99', against: { layout: 'container', row: 'alone', times: 16 }, atMost: 3 },
          ],
        },
      ],
    },
    { title: 'From 1 to 64 instances, of 4 callers', rows: GROWING },
    { title: 'Loads of 500 records a call, one instance', rows: LOADS },
    { title: 'Other latencies, and a tail', rows: TAILED },
  ],
};
