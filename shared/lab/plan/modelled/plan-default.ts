// The default plan: the layouts against callers, instances, sizes and arrivals, in three minutes.
import type { PlanInput, RowInput } from './plan.ts';

const CALLERS = [1, 8, 32, 256, 1_000, 10_000];
const INSTANCES = [1, 4, 16, 64, 256];
const CONTAINERS_KIB = [16, 64, 256, 700];
const RECORDS = [10_000, 100_000, 1_000_000, 1_000_000_000];

/** As Cloud Run starts instances by default, 80 requests each; Flex Consumption does it alike. */
const FOLLOWING = { concurrency: 80, startMs: 1_000, instancesMax: 256 };

const FEW = { operationsMax: 1_000, warmupOperationsMax: 700 };
const MANY_WRITERS = { instances: 16, callers: 4 };

type Workload = RowInput['workload'];

/** A cell takes as long as it has callers: of so many only a second is played. */
function followed(workload: Workload): RowInput[] {
  return CALLERS.map((callers) => ({
    workload,
    callers,
    following: FOLLOWING,
    ...(callers < 1_000 ? {} : { warmupMs: 1_500, windowMs: 1_000 }),
  }));
}

function byInstances(workload: Workload, instances: readonly number[], row: Partial<RowInput>): RowInput[] {
  return instances.map((count) => ({ workload, instances: count, ...row }));
}

function bySize(workload: Workload, row: Partial<RowInput>): RowInput[] {
  return CONTAINERS_KIB.map((containerKib) => ({ workload, ...FEW, ...row, containerKib }));
}

function byRecords(workload: Workload, row: Partial<RowInput>): RowInput[] {
  return RECORDS.map((records) => ({ workload, ...FEW, ...row, records }));
}

const ROWS: Readonly<Record<string, readonly RowInput[]>> = {
  'Gets against callers, on as many instances as 80 each need': followed('read'),
  'Puts against callers, on as many instances as 80 each need': followed('put'),
  'Gets against instances, of 4 callers': byInstances('read', INSTANCES, { callers: 4 }),
  'Puts against instances, of 4 callers': byInstances('put', INSTANCES, { callers: 4 }),
  'Half gets, half puts, zipfian, 100,000 records, against instances of 8 callers': byInstances('ycsb-a', [1, 4, 16], {
    records: 100_000,
    callers: 8,
  }),
  'One record changed, against instances of one caller': byInstances('modify', [1, 4, 16], { ...FEW, keys: 'one' }),
  'Puts against the size of containers, one instance of 32 callers': bySize('put', { callers: 32 }),
  'Puts against the size of containers, 16 instances of 4 callers': bySize('put', MANY_WRITERS),
  'Gets against the size of containers, one instance of 32 callers': bySize('read', { callers: 32 }),
  'Gets against the size of the table, one instance of 32 callers': byRecords('read', { callers: 32 }),
  'Puts against the size of the table, 16 instances of 4 callers': byRecords('put', MANY_WRITERS),
  'Loads of 500 records a call against callers, one instance': [1, 8, 32].map((callers) => ({
    workload: 'load',
    callers,
    operationsMax: 60,
    warmupOperationsMax: 30,
  })),
  'Puts against arrivals a second that wait for nothing, one instance': [50, 200, 800].map((perSecond) => ({
    workload: 'put',
    ...FEW,
    arrivals: { perSecond, spacing: 'poisson' },
  })),
};

export const DEFAULT_PLAN: PlanInput = {
  name: 'default',
  window: { warmupOperationsMax: 1_000, operationsMax: 1_000 },
  groups: Object.entries(ROWS).map(([title, rows]) => ({ title, rows: [...rows] })),
};
