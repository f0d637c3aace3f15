// The rows of the first, crude model of the clouds, by which the store's weaknesses were found. It counted no processor time.
import type { PlanInput } from './plan.ts';

export const SCALE_PLAN: PlanInput = {
  name: 'scale',
  window: { warmupOperationsMax: 8_000, operationsMax: 4_000, windowMs: 15_000 },
  groups: [
    {
      title: 'One instance, puts',
      across: 'callers',
      rows: [4, 32, 256].map((callers) => ({ workload: 'put', callers, processor: false })),
    },
    {
      title: 'One instance, gets',
      across: 'callers',
      rows: [1, 32, 256].map((callers) => ({ workload: 'read', callers, processor: false })),
    },
    {
      title: 'Several instances',
      across: 'nothing',
      rows: [
        { workload: 'read', instances: 16, callers: 32, processor: false },
        { workload: 'put', instances: 4, callers: 4, processor: false },
        { workload: 'put', instances: 16, callers: 4, processor: false },
        { workload: 'put', instances: 16, callers: 4, containerKib: 64, processor: false },
        { workload: 'put', instances: 16, callers: 4, containerKib: 16, processor: false },
        { workload: 'ycsb-a', records: 20_000, instances: 8, callers: 8, processor: false },
        { workload: 'modify', keys: 'one', instances: 8, callers: 1, processor: false },
      ],
    },
  ],
};
