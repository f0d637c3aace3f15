// Three sentences for a reader in a hurry, and the pairs that the picture shows.
import type { Layout } from '../kit/dimensions.ts';
import type { Ratio } from '../kit/ratio.ts';
import { factor, said } from '../kit/format.ts';
import { nameOf } from './against.ts';
import { list, PROVIDER_NAMES, providersIn, recordWords } from './names.ts';
import type { Best, Report, SummaryRow } from './schema.ts';

const LAYOUT_WORDS: Readonly<Record<Layout, string>> = {
  record: 'one entity a record',
  batch: 'the SDK’s batches',
  driver: 'one entity a record through the store’s driver',
  container: 'this store’s containers',
  'container-batch': 'batches of this store',
};

/** The container layout against another, each at its best load. */
export interface Pair {
  readonly provider: SummaryRow['provider'];
  readonly workload: SummaryRow['workload'];
  readonly recordBytes: number;
  readonly other: 'record' | 'batch' | 'driver';
  readonly ratio: Ratio;
}

/** A single run has no interval, and no verdict. */
export function isOneRun({ pairs }: Ratio): boolean {
  return pairs === 1;
}

export function pairsOf(summary: readonly SummaryRow[]): Pair[] {
  return summary.flatMap(({ provider, workload, recordBytes, ...row }) =>
    (
      [
        ['record', row.containerToRecord],
        ['batch', row.containerToBatch],
        ['driver', row.containerToDriver],
      ] as const
    ).flatMap(([other, ratio]) => (ratio === null ? [] : { provider, workload, recordBytes, other, ratio })),
  );
}

/** Three sentences; without figures the first alone. */
export function leadOf(report: Report): string[] {
  return [compared(report), ...(report.summary.length === 0 ? [] : [meaning(report), trust(report)])];
}

function compared({ plan, cells }: Report): string {
  const { workloads, layouts } = plan;
  const clouds = providersIn(cells).map((provider) => PROVIDER_NAMES[provider]);
  const where = clouds.length === 0 ? '' : ` on ${list(clouds)}`;
  return `The same work (${list(workloads)}; ${recordWords(plan)})${where} is laid out as ${list(layouts.map((layout) => LAYOUT_WORDS[layout]))}.`;
}

function meaning({ summary, cells }: Report): string {
  const standings = [...Map.groupBy(pairsOf(summary), ({ other }) => other)].map(([other, own]) =>
    standing(other, own),
  );
  if (standings.length === 0) return 'No two layouts ran calls that hand over as many records, so there is no ratio.';
  const costs = summary.flatMap(({ best }) => costRatio(best, cells));
  const cost = costs.length === 0 ? [] : [`billed ${spread(costs)} what ${LAYOUT_WORDS.record} is`];
  return `Each at its best load, containers are ${[...standings, ...cost].join('; ')}.`;
}

/** `faster than one entity a record in 4 of 6 pairs (2.4 x to 30 x), undecided in 2`. */
function standing(other: Pair['other'], pairs: readonly Pair[]): string {
  const told = (wanted: Ratio['verdict']): number[] =>
    pairs.flatMap(({ ratio }) => (ratio.verdict === wanted ? ratio.ratio : []));
  const [faster, slower] = [told('higher'), told('lower')];
  const untold = pairs.length - faster.length - slower.length;
  if (pairs.every(({ ratio }) => isOneRun(ratio)))
    return `in one run ${spread(pairs.map(({ ratio }) => ratio.ratio))} as fast as ${LAYOUT_WORDS[other]}`;
  if (untold === pairs.length) return `not told apart from ${LAYOUT_WORDS[other]} in any of ${untold} pairs`;
  return said(
    `faster than ${LAYOUT_WORDS[other]} in ${faster.length} of ${pairs.length} pairs${inBrackets(faster)}`,
    slower.length > 0 && `slower in ${slower.length}${inBrackets(slower)}`,
    untold > 0 && `undecided in ${untold}`,
  ).join(', ');
}

function inBrackets(ratios: readonly number[]): string {
  return ratios.length === 0 ? '' : ` (${spread(ratios)})`;
}

function spread(ratios: readonly number[]): string {
  const [from, to] = [factor(Math.min(...ratios)), factor(Math.max(...ratios))];
  return from === to ? from : `${from} to ${to}`;
}

function costRatio(best: SummaryRow['best'], cells: Report['cells']): number[] {
  const dollars = (own: Best | null): number => {
    const cell = cells.find((one) => own !== null && nameOf(one) === nameOf(own));
    return cell?.dollarsPerMillionRecords.median ?? 0;
  };
  const [container, record] = [dollars(best.container), dollars(best.record)];
  return container > 0 && record > 0 ? [container / record] : [];
}

function trust({ places, cells, plan }: Report): string {
  const runs = cells.flatMap((cell) => cell.runs);
  const sound = runs.filter(({ isSound }) => isSound).length;
  const emulated = places.filter(({ isEmulator }) => isEmulator).length;
  const where =
    emulated === 0
      ? 'the real services'
      : emulated === places.length
        ? 'emulators on one machine, so compare layouts and take no rate for a cloud’s'
        : 'a real service and an emulator, which do not compare';
  const many = plan.repetitions === 1 ? 'Each figure is of one run' : `Figures are medians of ${plan.repetitions} runs`;
  return `${many} on ${where}; ${sound === runs.length ? 'all' : sound} of ${runs.length} runs are sound.`;
}
