// The goals of the plan `bench`: this store against the SDK that its users would call otherwise.
import type { Layout, Provider, Workload } from '../kit/dimensions.ts';
import { factor } from '../kit/format.ts';
import { loadWords, PROVIDER_SHORT_NAMES } from './names.ts';
import type { Comparison, Report } from './schema.ts';

/** Of the store's figure to the SDK's. */
interface Goal {
  readonly workload: Workload;
  readonly against: Layout;
  readonly callers: number;
  /** The least ratio of records a second. */
  readonly rate: Readonly<Record<Provider, number>>;
  /** The highest ratio of the client's processor time for a record. */
  readonly processor: Readonly<Record<Provider, number>>;
}

type OnBoth = readonly [datastore: number, azure: number];

type Ground = readonly [workload: Workload, against: Layout, callers: number];

function goal([workload, against, callers]: Ground, rate: OnBoth, processor: OnBoth): Goal {
  return { workload, against, callers, rate: byProvider(rate), processor: byProvider(processor) };
}

function byProvider([datastore, azure]: OnBoth): Goal['rate'] {
  return { datastore, 'azure-tables': azure };
}

const GOALS: readonly Goal[] = [
  goal(['load', 'batch', 1], [5, 10], [0.35, 0.3]),
  goal(['update', 'record', 1], [1.1, 1], [0.9, 0.9]),
  goal(['update', 'record', 32], [3, 2], [0.4, 0.5]),
  goal(['ycsb-c', 'record', 1], [1.5, 1.2], [0.9, 0.9]),
  goal(['ycsb-c', 'record', 32], [10, 3], [0.15, 0.35]),
  goal(['read-together', 'batch', 1], [4, 4], [0.2, 0.2]),
  goal(['read-together', 'record', 1], [20, 20], [0.05, 0.05]),
  goal(['ycsb-e', 'record', 1], [2, 2], [0.3, 0.3]),
];

/** A goal that the comparison had a figure for. */
export type Judged = Report['goals'][number];

/** Of a plan that is judged by goals; each that has a figure. A missed goal is no failure. */
export function goalsOf(comparisons: readonly Comparison[]): Judged[] {
  return comparisons.flatMap((one) => {
    const { numerator, denominator, workload } = one;
    const found = GOALS.find(
      (goal) => goal.workload === workload && goal.against === denominator.layout && goal.callers === one.callers,
    );
    const isOwn = numerator.layout === 'container' && numerator.provider === denominator.provider;
    if (found === undefined || !isOwn || one.ratePerSecond !== null || one.instances !== 1) return [];
    const { provider } = numerator;
    const of = `${PROVIDER_SHORT_NAMES[provider]} ${workload}, ${loadWords(one)}, container to ${denominator.layout}`;
    const rate = judged(`${of}: rate`, one.recordsPerSecond?.ratio, 'at least', found.rate[provider]);
    return [
      ...rate,
      ...judged(`${of}: processor`, one.processorUsPerRecord?.ratio, 'at most', found.processor[provider]),
    ];
  });
}

function judged(what: string, ratio: number | undefined, bound: 'at least' | 'at most', goal: number): Judged[] {
  if (ratio === undefined) return [];
  const isMet = bound === 'at least' ? ratio >= goal : ratio <= goal;
  return [{ text: `${what} ${factor(ratio)}, ${bound} ${factor(goal)}`, ratio, goal, isMet }];
}
