// The model's headline figures, a group for each guess that moves. Five seeds show chance.
import { NO_LIMIT } from '../../cloud/data/parameters.ts';
import { COMMIT_AS_GET } from './plan-rows.ts';
import type { PlanInput, RowInput } from './plan.ts';

const LAYOUTS: RowInput['layouts'] = ['record', 'conditional', 'container'];

const FIGURES: readonly RowInput[] = [
  { id: 'puts, 64 instances of 4 callers', workload: 'put', instances: 64, callers: 4 },
  { id: 'hot keys (YCSB A), 16 instances of 8', workload: 'ycsb-a', instances: 16, callers: 8 },
  { id: 'puts of one record, 16 instances', workload: 'put', keys: 'one', instances: 16 },
];

type Guess = Pick<RowInput, 'seed' | 'providers' | 'settings' | 'recordBytes'> & {
  readonly title: string;
};

const GUESSES: readonly Guess[] = [
  ...[0, 1, 2, 3, 4].map((seed) => ({ title: `seed ${seed + 1}`, seed })),
  { title: '1 write a second', providers: ['datastore'], settings: { 'contention.writesPerSecond': 1 } },
  { title: 'no limit of writes', providers: ['datastore'], settings: { 'contention.writesPerSecond': NO_LIMIT } },
  ...COMMIT_AS_GET.map((shape) => ({ title: 'commit as quick as get', ...shape })),
  ...[100, 1_000, 4_000].map((recordBytes) => ({ title: `${recordBytes} B a record`, recordBytes })),
];

/** The plan's groups that differ by chance alone: their median is the middle. */
export function isMiddle(group: string): boolean {
  return group.startsWith('seed ');
}

export const BANDS_PLAN: PlanInput = {
  name: 'bands',
  // Containers split meanwhile: after 8,000 operations 64 instances have 0.77 of what the plan
  // goals shows as 0.87 after ten seconds.
  window: { warmupOperationsMax: 40_000, operationsMax: 3_000, windowMs: 60_000 },
  groups: GUESSES.map(({ title, ...guess }) => ({
    title,
    rows: FIGURES.map((row) => ({ ...row, layouts: LAYOUTS, ...guess })),
  })),
};
