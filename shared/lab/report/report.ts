// Makes the report of a comparison. The same outcome and circumstances make the same report.
import {
  dollarsPerMillionRecords,
  operationPriceList,
  type OperationPriceList,
  type PriceList,
} from '../cost/prices.ts';
import { LAYOUTS, PROVIDERS, WORKLOADS } from '../kit/dimensions.ts';
import { driftOf, type Figure, figureOf } from '../kit/figure.ts';
import type { CellResult, Coordinates, Place } from '../load/cell.ts';
import { encodeHistogram, latenciesOf, mergeHistograms } from '../kit/histogram.ts';
import { sum } from '../kit/numbers.ts';
import { type CellRun, mergeParts, type PlanOutcome, rateOf, type SearchRun } from '../plan/outcome.ts';
import type { Plan } from '../plan/plan.ts';
import { retriesOf, sumOfCounts, type Usage } from '../kit/provider-usage.ts';
import { comparisonsOf, goalsOf } from './comparisons.ts';
import { isOfMachine, marksOf, warningsOf } from './warnings.ts';
import {
  type Circumstances,
  MARKS,
  type Report,
  REPORT_SCHEMA_VERSION,
  type ReportCell,
  type ReportRun,
  type ReportSearch,
} from './report-schema.ts';
import { sentencesOf } from './sentences.ts';

/** An outcome that ended early gives a report, too. */
export function reportOf(outcome: PlanOutcome, plan: Plan, list: PriceList, circumstances: Circumstances): Report {
  const prices = operationPriceList(list);
  const places: Place[] = [];
  const cells = byCell(outcome.runs).map((runs) => cellOf(runs, prices, places));
  const comparisons = comparisonsOf(
    cells,
    places.every(({ isEmulator }) => !isEmulator),
  );
  return {
    schemaVersion: REPORT_SCHEMA_VERSION,
    ...circumstances,
    endedEarly: outcome.endedEarly,
    plan: structuredClone(plan),
    prices: structuredClone(prices),
    places,
    cells,
    comparisons,
    sentences: sentencesOf(comparisons),
    goals: plan.name === 'bench' ? goalsOf(comparisons) : [],
    warnings: warningsOf(places, cells),
    searches: byCell(outcome.searches).map((runs) => searchOf(runs, plan)),
    failures: [...outcome.failures],
    leftOut: [...outcome.leftOut],
    leftovers: [...outcome.leftovers],
  };
}

/** The cells of a run that has not ended. */
export function cellsSoFar(runs: readonly CellRun[], list: PriceList): ReportCell[] {
  const prices = operationPriceList(list);
  return byCell(runs).map((some) => cellOf(some, prices, []));
}

/** Runs of one cell together by repetition, cells by coordinates, whatever order they ran in. */
function byCell<Run extends { readonly cell: Coordinates; readonly repetition: number }>(
  runs: readonly Run[],
): Run[][] {
  const groups = Map.groupBy(runs, ({ cell }) => placeOf(cell).join(' '));
  return [...groups.values()]
    .map((group) => group.toSorted((one, other) => one.repetition - other.repetition))
    .toSorted(([one], [other]) => inOrder(one!.cell, other!.cell));
}

/** As dimensions.ts lists them; closed loops before open ones. */
function inOrder(one: Coordinates, other: Coordinates): number {
  const differences = placeOf(one).map((number, at) => number - placeOf(other)[at]!);
  return differences.find((difference) => difference !== 0) ?? 0;
}

function placeOf(cell: Coordinates): number[] {
  const { recordBytes, containerKib, ratePerSecond, instances, callers } = cell;
  return [
    WORKLOADS.indexOf(cell.workload),
    recordBytes,
    PROVIDERS.indexOf(cell.provider),
    LAYOUTS.indexOf(cell.layout),
    containerKib ?? 0,
    ratePerSecond ?? 0,
    instances,
    callers,
  ];
}

function cellOf(cellRuns: readonly CellRun[], prices: OperationPriceList, places: Place[]): ReportCell {
  const [first] = cellRuns;
  const cell = first!.cell;
  const runs = cellRuns.map((run) => runOf(run, places));
  const per = (of: (usage: Usage) => number): Figure =>
    figureOf(runs.map(({ usage, recordsTotal }) => of(usage) / recordsTotal));
  const dollars = ({ usage, recordsTotal }: ReportRun): number =>
    dollarsPerMillionRecords(usage.billable, recordsTotal, prices.providers[cell.provider]);
  const drift = driftOf(runs);
  return {
    ...cell,
    recordsPerCall: first!.parts[0]!.recordsPerCall,
    recordsPerSecond: figureOf(runs.map(({ recordsPerSecond }) => recordsPerSecond)),
    latency: latenciesOf(mergeHistograms(runs.map(({ histogram }) => histogram))),
    operations: sum(runs.map(({ operations }) => operations)),
    errors: sumOfCounts(runs.map(({ errors }) => errors)),
    retries: retriesOf(runs.map(({ usage }) => usage)),
    unfinished: sum(runs.map(({ unfinished }) => unfinished)),
    requestsPer1000Records: per(({ requests }) => requests * 1_000),
    billableOperationsPer1000Records: per(
      ({ billable: { reads, writes, deletes } }) => (reads + writes + deletes) * 1_000,
    ),
    dollarsPerMillionRecords: figureOf(runs.map(dollars)),
    processorUsPerRecord: figureOf(runs.map(({ processorUsPerRecord }) => processorUsPerRecord)),
    bytesWrittenPerRecord: per(({ bytesWritten }) => bytesWritten),
    bytesReadPerRecord: per(({ bytesRead }) => bytesRead),
    drift: Number.isFinite(drift) ? drift : null,
    isMachineLimited: runs.filter(({ marks }) => isOfMachine(marks)).length * 2 > runs.length,
    runs,
  };
}

function searchOf(searches: readonly SearchRun[], plan: Plan): ReportSearch {
  const latencies = searches.flatMap(({ confirmed }) => confirmed?.latencyMs ?? []);
  return {
    ...searches[0]!.cell,
    search: plan.search!,
    ratePerSecondHeld: figureOf(searches.map(({ confirmed }) => confirmed?.ratePerSecond ?? 0)),
    latencyMs: latencies.length === 0 ? null : figureOf(latencies),
    runs: searches.map(({ repetition, confirmed, tries }) => ({ repetition, confirmed, tries: [...tries] })),
  };
}

function runOf({ repetition, parts }: CellRun, places: Place[]): ReportRun {
  const { histogram, recordsPerCall: _, recordsPerSecond, ...merged } = mergeParts(parts);
  const firstMs = Math.min(...parts.map(({ openedAtMs }) => openedAtMs));
  const marked = new Set(parts.flatMap((part) => marksOf(part, part.openedAtMs - firstMs)));
  return {
    repetition,
    startedAt: new Date(firstMs).toISOString(),
    recordsPerSecond: Math.round(recordsPerSecond * 100) / 100,
    ...merged,
    operations: histogram.totalCount,
    latency: latenciesOf(histogram),
    histogram: encodeHistogram(histogram),
    processorUsPerRecord: sum(parts.map(({ processorUs }) => processorUs)) / merged.recordsTotal,
    marks: MARKS.filter((mark) => marked.has(mark)),
    parts: parts.map((part) => partOf(part, part.openedAtMs - firstMs, places)),
  };
}

function partOf(part: CellResult, skewMs: number, places: Place[]): ReportRun['parts'][number] {
  const { isCold, uptimeMs, firstOperationMs, durationMs, behindMsMax, isHeldByRamp, memoryBytes } = part;
  const { warmup, processor } = part;
  return {
    place: indexOf(part.place, places),
    isCold,
    uptimeMs,
    firstOperationMs,
    durationMs,
    behindMsMax,
    isHeldByRamp,
    memoryBytes,
    warmupMs: warmup.durationMs,
    steadiness: warmup.steadiness,
    warmupErrors: warmup.errors,
    skewMs,
    recordsPerSecond: rateOf(part),
    processorWait: processor.wait,
    processorStolen: processor.stolen,
    processorBusy: processor.busy,
    emulatorBusy: processor.emulatorBusy,
  };
}

/** The place's index in the list, into which it is put the first time. */
function indexOf(place: Place, places: Place[]): number {
  const name = JSON.stringify(place);
  const known = places.findIndex((one) => JSON.stringify(one) === name);
  return known >= 0 ? known : places.push(place) - 1;
}
