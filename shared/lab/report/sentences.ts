// A sentence for each workload, for a reader in a hurry: how many times the work of a second, and
// what share of the bill.
import { type Layout, PROVIDERS, WORKLOADS, type Workload } from '../kit/dimensions.ts';
import { whole } from '../kit/format.ts';
import type { Ratio } from '../kit/ratio.ts';
import { list, loadWords, PROVIDER_SHORT_NAMES, WORKLOAD_WORDS } from './names.ts';
import type { Comparison, Report } from './schema.ts';

/** Of the layouts that stand beside `container`, the one that its user would choose otherwise. */
const OTHERS: readonly Layout[] = ['batch', 'record', 'container-sdk'];

const OTHER_WORDS: Readonly<Partial<Record<Layout, { readonly name: string; readonly bill: string }>>> = {
  record: { name: 'one entity per record', bill: 'its bill' },
  batch: { name: "the SDK's batches", bill: 'their bill' },
  'container-sdk': { name: "the same store over the SDK's transport", bill: 'its bill' },
};

export function sentencesOf(comparisons: readonly Comparison[]): Report['sentences'] {
  const sizes = [...new Set(comparisons.map(({ recordBytes }) => recordBytes))];
  return WORKLOADS.flatMap((workload) =>
    sizes.flatMap((recordBytes) => {
      const own = comparisons.filter((one) => one.workload === workload && one.recordBytes === recordBytes);
      const chosen = PROVIDERS.flatMap((provider) => chosenOf(own, provider) ?? []);
      if (chosen.length === 0) return [];
      const title = WORKLOAD_WORDS[workload].doing + (sizes.length > 1 ? ` of ${whole(recordBytes)} bytes` : '');
      // Clouds with the same load, and the same other way to do it, share what is said of both.
      const groups = [...Map.groupBy(chosen, groundOf).values()];
      const parts = groups.map((group) => rateWords(group, workload) + billWords(group));
      return { workload, text: `${title}: ${parts.join('. ')}.` };
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

/** What the rates of a group are against: `one entity per record, with 4 callers`. */
function groundOf(one: Comparison): string {
  const limit = one.isMachineLimited ? ', where this machine was the limit' : '';
  return `${OTHER_WORDS[one.denominator.layout]!.name}, with ${loadWords(one)}${limit}`;
}

/** `2.3 times as many scans a second on Datastore and 1.9 times as many on Azure as ...`. */
function rateWords(group: readonly Comparison[], workload: Workload): string {
  const parts = group.map(({ recordsPerSecond, numerator }, at) => {
    const units = at === 0 ? ` ${WORKLOAD_WORDS[workload].units} a second` : '';
    return `${timesWords(recordsPerSecond!, units)} on ${PROVIDER_SHORT_NAMES[numerator.provider]}`;
  });
  return `${list(parts)} as with ${groundOf(group[0]!)}`;
}

function timesWords({ ratio, verdict }: Ratio, units: string): string {
  if (verdict === 'undecided') return `as many${units} (not told apart)`;
  const times = `${timesText(ratio)} times as many${units}`;
  if (verdict === 'drifting') return `${times} (not judged, as the rates drifted)`;
  return verdict === 'too-few-runs' ? `${times} (too few runs to judge)` : times;
}

/** `; 0.028 of its bill on Datastore and the same bill on Azure`. */
function billWords(group: readonly Comparison[]): string {
  const parts = group.flatMap(({ dollarsPerMillionRecords: ratio, numerator, denominator }, at) => {
    if (ratio === null) return [];
    const { bill } = OTHER_WORDS[denominator.layout]!;
    const share = ratio.verdict === 'undecided' ? 'the same bill' : shareText(ratio.ratio, at === 0 ? bill : 'it');
    return `${share} on ${PROVIDER_SHORT_NAMES[numerator.provider]}`;
  });
  return parts.length === 0 ? '' : `; ${list(parts)}`;
}

/** `12`, `2.3`, `0.94`. */
export function timesText(ratio: number): string {
  if (ratio >= 10) return whole(ratio);
  return ratio >= 1 ? ratio.toFixed(1) : String(Number(ratio.toPrecision(2)));
}

function shareText(ratio: number, bill: string): string {
  return ratio >= 1 ? `${timesText(ratio)} times ${bill}` : `${timesText(ratio)} of ${bill}`;
}
