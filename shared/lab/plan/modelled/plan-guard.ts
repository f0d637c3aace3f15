// A small plan that passes every part of the model once. Its figures are kept in the repository
// (infra/lab/model/guard.tsv), so that change of one is seen.
import { SECOND_SECOND } from './plan-rows.ts';
import type { PlanInput, RowInput } from './plan.ts';

const ROWS: readonly RowInput[] = [
  { workload: 'read', callers: 32 },
  { workload: 'put' },
  { workload: 'put', callers: 32 },
  { workload: 'put', instances: 4, callers: 4 },
  { workload: 'put', instances: 16, callers: 4, containerKib: 64 },
  { workload: 'ycsb-a', instances: 8, callers: 8 },
  { workload: 'modify', keys: 'one', instances: 4 },
  { workload: 'load', callers: 4, operationsMax: 20, warmupOperationsMax: 10 },
  { workload: 'read', callers: 200, following: { concurrency: 40, startMs: 1_000, instancesMax: 8 } },
  { workload: 'put', arrivals: { perSecond: 200, spacing: 'poisson' } },
  { workload: 'read', records: 1_000_000_000, containerKib: 64, operationsMax: 100, warmupOperationsMax: 50 },
  // Callers enough for an account's limit, which 64 instances of 4 meet in an account of 20,000.
  {
    workload: 'put',
    instances: 8,
    callers: 4,
    providers: ['azure-tables'],
    settings: { 'account.unitsPerSecond': 1_000 },
  },
  // All processes cold: where a partition ends before the account, half of this is left.
  {
    workload: 'put',
    instances: 64,
    callers: 4,
    providers: ['azure-tables'],
    layouts: ['container'],
    ...SECOND_SECOND,
  },
  { workload: 'put', callers: 8, settings: { 'tail.share': 0.01, 'tail.factor': 10 } },
];

export const GUARD_PLAN: PlanInput = {
  name: 'guard',
  window: { warmupMs: 5_000, warmupOperationsMax: 400, windowMs: 5_000, operationsMax: 400 },
  groups: [{ title: 'All parts of the model', rows: [...ROWS] }],
};
