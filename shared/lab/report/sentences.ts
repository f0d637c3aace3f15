// A sentence for each workload, for a reader in a hurry: how many times the work of a second, and
// what share of the bill.
import { type Layout, PROVIDERS, WORKLOADS, type Workload } from '../kit/dimensions.ts';
import { whole } from '../kit/format.ts';
import type { Ratio } from '../kit/ratio.ts';
import { list, loadWords, PROVIDER_SHORT_NAMES, WORKLOAD_WORDS } from './names.ts';
import type { Comparison, Report } from './schema.ts';

/** Of the layouts that stand beside `container`, the one that its user would choose otherwise. */
const OTHERS: readonly Layout[] = ['batch', 'record', 'container-sdk'];

const OTHER_WORDS: Readonly<Partial<Record<Layout, { readonly rate: string; readonly bill: string }>>> = {
  record: { rate: 'one entity per record', bill: 'its bill' },
  batch: { rate: "the SDK's batches", bill: 'their bill' },
  'container-sdk': { rate: "the same store over the SDK's transport", bill: 'its bill' },
};

export function sentencesOf(comparisons: readonly Comparison[]): Report['sentences'] {
  const sizes = [...new Set(comparisons.map(({ recordBytes }) => recordBytes))];
  return WORKLOADS.flatMap((workload) =>
    sizes.flatMap((recordBytes) => {
      const own = comparisons.filter((one) => one.workload === workload && one.recordBytes === recordBytes);
      const chosen = PROVIDERS.flatMap((provider) => chosenOf(own, provider) ?? []);
      if (chosen.length === 0) return [];
      const title = WORKLOAD_WORDS[workload].doing + (sizes.length > 1 ? ` of ${whole(recordBytes)} bytes` : '');
      return { workload, text: `${title}: ${rateWords(chosen, workload)}${billWords(chosen)}.` };
    }),
  );
}

/** At the most callers where the store, not the machine, was the limit; else at the most. */
function chosenOf(own: readonly Comparison[], provider: Comparison['numerator']['provider']): Comparison | undefined {
  const against = OTHERS.map((layout) =>
    own.filter(({ numerator, denominator }) => {
      const isOwn = numerator.provider === provider && denominator.provider === provider;
      return isOwn && numerator.layout === 'container' && denominator.layout === layout;
    }),
  ).find((some) => some.length > 0);
  const judged = against?.filter(({ recordsPerSecond }) => recordsPerSecond !== null);
  const byLoad = judged?.toSorted((one, other) => other.instances * other.callers - one.instances * one.callers);
  return byLoad?.find(({ isMachineLimited }) => !isMachineLimited) ?? byLoad?.[0];
}

function rateWords(chosen: readonly Comparison[], workload: Workload): string {
  const { units } = WORKLOAD_WORDS[workload];
  const parts = chosen.map((one) => {
    const { rate } = OTHER_WORDS[one.denominator.layout]!;
    const limit = one.isMachineLimited ? ', where this machine was the limit' : '';
    const where = `on ${PROVIDER_SHORT_NAMES[one.numerator.provider]} with ${loadWords(one)}${limit}`;
    return `${timesWords(one.recordsPerSecond!, units, rate)} ${where}`;
  });
  return list(parts);
}

function timesWords(ratio: Ratio, units: string, other: string): string {
  const times = `${timesText(ratio.ratio)} times the ${units} a second of ${other}`;
  if (ratio.verdict === 'undecided') return `as many ${units} a second as ${other} (not told apart)`;
  if (ratio.verdict === 'drifting') return `${times} (not judged, as the rates drifted)`;
  return ratio.verdict === 'too-few-runs' ? `${times} (too few runs to judge)` : times;
}

function billWords(chosen: readonly Comparison[]): string {
  const parts = chosen.flatMap(({ dollarsPerMillionRecords: ratio, numerator, denominator }) => {
    if (ratio === null) return [];
    const { bill } = OTHER_WORDS[denominator.layout]!;
    const share = ratio.verdict === 'undecided' ? 'the same as' : shareText(ratio.ratio);
    return `${share} ${bill} on ${PROVIDER_SHORT_NAMES[numerator.provider]}`;
  });
  return parts.length === 0 ? '' : `; ${list(parts)}`;
}

/** `12`, `2.3`, `0.94`. */
export function timesText(ratio: number): string {
  if (ratio >= 10) return whole(ratio);
  return ratio >= 1 ? ratio.toFixed(1) : String(Number(ratio.toPrecision(2)));
}

function shareText(ratio: number): string {
  return ratio >= 1 ? `${timesText(ratio)} times` : `${timesText(ratio)} of`;
}
