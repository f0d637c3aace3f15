// What a terminal shows while a plan runs: the figures so far, and how far the plan is. Pure lines of text.
import type { Coordinates } from '../../shared/lab/load/coordinates.ts';
import { latenciesOf } from '../../shared/lab/kit/histogram.ts';
import { LAYOUTS, PROVIDERS, WORKLOADS } from '../../shared/lab/kit/dimensions.ts';
import { median } from '../../shared/lab/kit/median.ts';
import { mergeParts } from '../../shared/lab/plan/merge.ts';
import type { CellRun, PlanEvent } from '../../shared/lab/plan/outcome.ts';
import { decimal, whole } from '../../shared/lab/kit/format.ts';
import { textTable } from '../../shared/lab/kit/text-table.ts';
import { cellWords, loadWords } from '../../shared/lab/report/names.ts';

/** A plan as it runs, told by its events. */
export class LivePlan {
  readonly #startedMs: number;
  readonly #runs: Measured[] = [];
  #failed = 0;
  #done = 0;
  #total = 0;
  #doing = '';

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  take(event: PlanEvent): void {
    if ('dataset' in event) return;
    if ('what' in event) {
      this.#doing = `${event.kind} ${event.what}`;
      return;
    }
    this.#done = event.done;
    this.#total = event.total;
    if (event.kind === 'begun') {
      this.#doing = `${cellWords(event.cell)}, run ${event.repetition}`;
    } else if (event.kind === 'ended') this.#runs.push(measuredIn(event.run));
    else if (event.kind === 'failed') this.#failed += 1;
  }

  /** The table of what ran, and below it the line of `status`. */
  lines(nowMs: number): string[] {
    const table = this.#runs.length === 0 ? [] : tableOf(this.#runs).split('\n');
    return [...table, this.status(nowMs)];
  }

  /** `12 of 108 runs, 2 failed, about 3 min left: Datastore record, load, 8 callers, run 2`. */
  status(nowMs: number): string {
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`;
    return `${this.#done} of ${this.#total} runs${failed}${this.#left(nowMs)}: ${this.#doing}`;
  }

  /** In tenths of the plan. */
  tenths(): number {
    return this.#total === 0 ? 0 : Math.floor((10 * this.#done) / this.#total);
  }

  #left(nowMs: number): string {
    if (this.#done === 0) return '';
    const seconds = ((nowMs - this.#startedMs) / 1_000 / this.#done) * (this.#total - this.#done);
    return `, about ${seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`} left`;
  }
}

interface Measured {
  readonly cell: Coordinates;
  readonly recordsPerSecond: number;
  readonly p50Ms: number | null;
}

function measuredIn({ cell, parts }: CellRun): Measured {
  const { recordsPerSecond, histogram } = mergeParts(parts);
  return { cell, recordsPerSecond, p50Ms: latenciesOf(histogram).p50Ms };
}

/** A row for each workload and layout, a column for each load: medians so far, of throughput and of p50. */
function tableOf(runs: readonly Measured[]): string {
  const loads = new Map(runs.map(({ cell }) => [loadWords(cell), cell.callers * cell.instances]));
  const titles = [...loads].toSorted(([, one], [, other]) => one - other).map(([words]) => words);
  const series = [...Map.groupBy(runs, ({ cell }) => rowWords(cell).join(' ')).values()];
  const rows = series
    .toSorted(([one], [other]) => rowPlace(one!.cell) - rowPlace(other!.cell))
    .map((own) => [...rowWords(own[0]!.cell), ...titles.map((title) => soFar(own, title))]);
  return textTable(['records/s and p50', '', '', ...titles], rows, 3);
}

function rowWords({ workload, provider, layout, containerKib, recordBytes }: Coordinates): string[] {
  const size = containerKib === null ? '' : ` ${containerKib}K`;
  return [workload, provider, `${layout}${size} ${recordBytes}B`];
}

function rowPlace({ workload, provider, layout }: Coordinates): number {
  return 100 * WORKLOADS.indexOf(workload) + 10 * PROVIDERS.indexOf(provider) + LAYOUTS.indexOf(layout);
}

function soFar(series: readonly Measured[], load: string): string {
  const runs = series.filter(({ cell }) => loadWords(cell) === load);
  if (runs.length === 0) return '';
  const latencies = runs.flatMap(({ p50Ms }) => p50Ms ?? []);
  const p50 = latencies.length === 0 ? '-' : `${decimal(median(latencies))} ms`;
  return `${whole(median(runs.map(({ recordsPerSecond }) => recordsPerSecond)))} ${p50}`;
}
