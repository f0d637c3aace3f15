// The default plan: how the layouts do against callers, instances, the size of containers and of the table. Small enough for three minutes.
import type { Across, PlanInput, RowInput } from './plan.ts';

const CALLERS = [1, 8, 32, 256, 1_000, 10_000];

const INSTANCES = [1, 4, 16, 64, 256];
const CONTAINERS_KIB = [16, 64, 256, 700];
const RECORDS = [10_000, 100_000, 1_000_000, 1_000_000_000];

/** As Cloud Run starts instances by default, 80 requests each; Flex Consumption does it alike. */
const FOLLOWING = { concurrency: 80, startMs: 1_000, instancesMax: 256 };

/** What a cell costs in real time goes with its callers: of so many a second is played. */
function followed(workload: RowInput['workload'], callers: number): RowInput {
  return { workload, callers, following: FOLLOWING, ...(callers < 1_000 ? {} : { warmupMs: 1_500, windowMs: 1_000 }) };
}

const few = { operationsMax: 1_000, warmupOperationsMax: 700 };

/** A group whose rows differ in one thing. */
function group<Value>(
  title: string,
  across: Across,
  values: readonly Value[],
  rowOf: (value: Value) => RowInput,
): PlanInput['groups'][number] {
  return { title, across, rows: values.map(rowOf) };
}

const BESIDE_CALLERS = 'against callers, on as many instances as 80 each need';

export const DEFAULT_PLAN: PlanInput = {
  name: 'default',
  window: { warmupOperationsMax: 1_000, operationsMax: 1_000 },
  groups: [
    group(`Gets ${BESIDE_CALLERS}`, 'callers', CALLERS, (callers) => followed('read', callers)),
    group(`Puts ${BESIDE_CALLERS}`, 'callers', CALLERS, (callers) => followed('put', callers)),
    group('Gets against instances, of 4 callers', 'instances', INSTANCES, (instances) => ({
      workload: 'read',
      instances,
      callers: 4,
    })),
    group('Puts against instances, of 4 callers', 'instances', INSTANCES, (instances) => ({
      workload: 'put',
      instances,
      callers: 4,
    })),
    group(
      'Half gets, half puts, zipfian, 100,000 records, against instances of 8 callers',
      'instances',
      [1, 4, 16],
      (instances) => ({ workload: 'ycsb-a', records: 100_000, instances, callers: 8 }),
    ),
    group('One record changed, against instances of one caller', 'instances', [1, 4, 16], (instances) => ({
      workload: 'modify',
      ...few,
      keys: 'one',
      instances,
    })),
    group(
      'Puts against the size of containers, one instance of 32 callers',
      'containerKib',
      CONTAINERS_KIB,
      (containerKib) => ({ workload: 'put', ...few, callers: 32, containerKib }),
    ),
    group(
      'Puts against the size of containers, 16 instances of 4 callers',
      'containerKib',
      CONTAINERS_KIB,
      (containerKib) => ({ workload: 'put', ...few, instances: 16, callers: 4, containerKib }),
    ),
    group(
      'Gets against the size of containers, one instance of 32 callers',
      'containerKib',
      CONTAINERS_KIB,
      (containerKib) => ({ workload: 'read', ...few, callers: 32, containerKib }),
    ),
    group('Gets against the size of the table, one instance of 32 callers', 'records', RECORDS, (records) => ({
      workload: 'read',
      ...few,
      callers: 32,
      records,
    })),
    group('Puts against the size of the table, 16 instances of 4 callers', 'records', RECORDS, (records) => ({
      workload: 'put',
      ...few,
      instances: 16,
      callers: 4,
      records,
    })),
    group('Loads of 500 records a call against callers, one instance', 'callers', [1, 8, 32], (callers) => ({
      workload: 'load',
      callers,
      operationsMax: 60,
      warmupOperationsMax: 30,
    })),
    group(
      'Puts against arrivals a second that wait for nothing, one instance',
      'arrivals',
      [50, 200, 800],
      (perSecond) => ({ workload: 'put', ...few, arrivals: { perSecond, spacing: 'poisson' } }),
    ),
  ],
};
