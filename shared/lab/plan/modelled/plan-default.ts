// The default plan: how the layouts do against callers, instances, the size of containers and of the table. Small enough for three minutes.
import type { PlanInput, RowInput } from './plan.ts';

const CALLERS = [1, 8, 32, 256, 1_000, 10_000];

/** What a cell costs in real time goes with its callers: of so many a second is played. */
function spanOf(callers: number): Partial<RowInput> {
  return callers < 1_000 ? {} : { warmupMs: 1_500, windowMs: 1_000 };
}

const INSTANCES = [1, 4, 16, 64, 256];
const CONTAINERS_KIB = [16, 64, 256, 700];
const RECORDS = [10_000, 100_000, 1_000_000, 1_000_000_000];
const ARRIVALS = [50, 200, 800];

/** As Cloud Run starts instances by default, 80 requests each; Flex Consumption does it alike. */
const FOLLOWING = { concurrency: 80, startMs: 1_000, instancesMax: 256 };

const few: Partial<RowInput> = { operationsMax: 1_000, warmupOperationsMax: 700 };

export const DEFAULT_PLAN: PlanInput = {
  name: 'default',
  window: { warmupOperationsMax: 1_000, operationsMax: 1_000 },
  groups: [
    {
      title: 'Gets against callers, on as many instances as 80 each need',
      across: 'callers',
      rows: CALLERS.map((callers): RowInput => ({
        workload: 'read',
        callers,
        following: FOLLOWING,
        ...spanOf(callers),
      })),
    },
    {
      title: 'Puts against callers, on as many instances as 80 each need',
      across: 'callers',
      rows: CALLERS.map((callers): RowInput => ({
        workload: 'put',
        callers,
        following: FOLLOWING,
        ...spanOf(callers),
      })),
    },
    {
      title: 'Gets against instances, of 4 callers',
      across: 'instances',
      rows: INSTANCES.map((instances): RowInput => ({ workload: 'read', instances, callers: 4 })),
    },
    {
      title: 'Puts against instances, of 4 callers',
      across: 'instances',
      rows: INSTANCES.map((instances): RowInput => ({ workload: 'put', instances, callers: 4 })),
    },
    {
      title: 'Half gets, half puts, zipfian, 100,000 records, against instances of 8 callers',
      across: 'instances',
      rows: [1, 4, 16].map((instances): RowInput => ({
        workload: 'ycsb-a',
        records: 100_000,
        instances,
        callers: 8,
      })),
    },
    {
      title: 'One record changed, against instances of one caller',
      across: 'instances',
      rows: [1, 4, 16].map((instances): RowInput => ({ ...few, workload: 'modify', keys: 'one', instances })),
    },
    {
      title: 'Puts against the size of containers, one instance of 32 callers',
      across: 'containerKib',
      rows: CONTAINERS_KIB.map((containerKib): RowInput => ({ ...few, workload: 'put', callers: 32, containerKib })),
    },
    {
      title: 'Puts against the size of containers, 16 instances of 4 callers',
      across: 'containerKib',
      rows: CONTAINERS_KIB.map((containerKib): RowInput => ({
        ...few,
        workload: 'put',
        instances: 16,
        callers: 4,
        containerKib,
      })),
    },
    {
      title: 'Gets against the size of containers, one instance of 32 callers',
      across: 'containerKib',
      rows: CONTAINERS_KIB.map((containerKib): RowInput => ({ ...few, workload: 'read', callers: 32, containerKib })),
    },
    {
      title: 'Gets against the size of the table, one instance of 32 callers',
      across: 'records',
      rows: RECORDS.map((records): RowInput => ({ ...few, workload: 'read', callers: 32, records })),
    },
    {
      title: 'Puts against the size of the table, 16 instances of 4 callers',
      across: 'records',
      rows: RECORDS.map((records): RowInput => ({ ...few, workload: 'put', instances: 16, callers: 4, records })),
    },
    {
      title: 'Loads of 500 records a call against callers, one instance',
      across: 'callers',
      rows: [1, 8, 32].map((callers): RowInput => ({
        workload: 'load',
        callers,
        operationsMax: 60,
        warmupOperationsMax: 30,
      })),
    },
    {
      title: 'Puts against arrivals a second that wait for nothing, one instance',
      across: 'arrivals',
      rows: ARRIVALS.map((perSecond): RowInput => ({
        ...few,
        workload: 'put',
        arrivals: { perSecond, spacing: 'poisson' },
      })),
    },
  ],
};
