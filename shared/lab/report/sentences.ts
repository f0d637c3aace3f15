// A sentence for each workload, for a reader in a hurry: how many times as much work per second,
// and for what share of the bill.
import { type Layout, type Provider, PROVIDERS, type Workload, WORKLOADS } from '../kit/dimensions.ts';
import { whole } from '../kit/figure-format.ts';
import { isSame, type Ratio } from '../kit/figure.ts';
import { LAYOUT_WORDS, list, loadWords, PROVIDER_SHORT_NAMES, WORKLOAD_WORDS } from './names.ts';
import type { Comparison, Report } from './report-schema.ts';

/** A sentence compares with the first of these that ran: what a user would choose otherwise. */
const OTHERS: readonly Layout[] = ['batch', 'record', 'container-sdk'];

export function sentencesOf(comparisons: readonly Comparison[]): Report['sentences'] {
  const sizes = [...new Set(comparisons.map(({ recordBytes }) => recordBytes))];
  return WORKLOADS.flatMap((workload) =>
    sizes.flatMap((recordBytes) => {
      const own = comparisons.filter((one) => one.recordBytes === recordBytes);
      const chosen = atOneLoad(own, workload);
      if (chosen.length === 0) return [];
      const title = WORKLOAD_WORDS[workload].doing + (sizes.length > 1 ? ` of ${whole(recordBytes)} bytes` : '');
      // Clouds with the same load, and the same other way to do it, share what is said of both.
      const groups = [...Map.groupBy(chosen, groundOf).values()];
      const parts = groups.map((group) => rateWords(group, workload) + billWords(group));
      return { workload, text: `${title}: ${parts.join('; ')}.` };
    }),
  );
}

/** Both clouds at the same load if possible: the smaller of those that each would have alone. */
function atOneLoad(comparisons: readonly Comparison[], workload: Workload): Comparison[] {
  const alone = PROVIDERS.flatMap((provider) => chosenFor(comparisons, workload, provider) ?? []);
  const least = Math.min(...alone.filter(({ isMachineLimited }) => !isMachineLimited).map(callersOf));
  const upTo = comparisons.filter((one) => callersOf(one) <= least);
  return alone.map((one) => chosenFor(upTo, workload, one.numerator.provider) ?? one);
}

function callersOf({ instances, callers }: Comparison): number {
  return instances * callers;
}

/**
 * The comparison that a sentence is on: with what users would do otherwise, at the most callers
 * where the store, not the machine, was the limit; else at the most.
 */
export function chosenFor(
  comparisons: readonly Comparison[],
  workload: Workload,
  provider: Provider,
): Comparison | undefined {
  const own = comparisons.filter(
    (one) =>
      one.workload === workload &&
      one.numerator.layout === 'container' &&
      one.numerator.provider === provider &&
      one.denominator.provider === provider &&
      one.recordsPerSecond !== null,
  );
  const other = OTHERS.find((layout) => own.some(({ denominator }) => denominator.layout === layout));
  const byLoad = own
    .filter(({ denominator }) => denominator.layout === other)
    .toSorted((one, another) => callersOf(another) - callersOf(one));
  return byLoad.find(({ isMachineLimited }) => !isMachineLimited) ?? byLoad[0];
}

/** What a group's rates are compared with: `one entity per record, with 4 callers`. */
function groundOf(one: Comparison): string {
  const limit = one.isMachineLimited ? ', where this machine was the limit' : '';
  return `${LAYOUT_WORDS[one.denominator.layout]}, with ${loadWords(one)}${limit}`;
}

/** `2.3 times as many scans a second on Datastore and 1.9 times as many on Azure as ...`. */
function rateWords(group: readonly Comparison[], workload: Workload): string {
  const parts = group.map(({ recordsPerSecond, numerator }, at) => {
    const units = at === 0 ? ` ${WORKLOAD_WORDS[workload].units} a second` : '';
    return `${timesWords(recordsPerSecond!, units)} on ${PROVIDER_SHORT_NAMES[numerator.provider]}`;
  });
  return `${list(parts)} as with ${groundOf(group[0]!)}`;
}

function timesWords(one: Ratio, units: string): string {
  if (isSame(one)) return `as many${units}`;
  const { ratio, low, high, verdict } = one;
  const times = `${timesText(ratio)} times as many${units}`;
  if (verdict === 'undecided') return `${times} (${timesText(low)} to ${timesText(high)}: not told apart)`;
  if (verdict === 'drifting') return `${times} (not judged, as the rates drifted)`;
  return verdict === 'too-few-runs' ? `${times} (too few runs to judge)` : times;
}

/** `, for 0.028 of its bill on Datastore and the same bill on Azure`. */
function billWords(group: readonly Comparison[]): string {
  const parts = group.flatMap(({ dollarsPerMillionRecords: ratio, numerator, denominator }, at) => {
    if (ratio === null) return [];
    const bill = denominator.layout === 'batch' ? 'their bill' : 'its bill';
    const share = isSame(ratio) ? 'the same bill' : shareText(ratio.ratio, at === 0 ? bill : 'it');
    return `${share} on ${PROVIDER_SHORT_NAMES[numerator.provider]}`;
  });
  return parts.length === 0 ? '' : `, for ${list(parts)}`;
}

/** `12`, `2.3`, `0.94`. */
export function timesText(ratio: number): string {
  if (ratio >= 10) return whole(ratio);
  return ratio >= 1 ? ratio.toFixed(1) : String(Number(ratio.toPrecision(2)));
}

function shareText(ratio: number, bill: string): string {
  return ratio >= 1 ? `${timesText(ratio)} times ${bill}` : `${timesText(ratio)} of ${bill}`;
}
