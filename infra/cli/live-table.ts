// What a terminal shows while a plan runs: the figures of the present workload so far, and how far the plan is. Pure lines of text.
import { latenciesOf, mergeHistograms } from '../../shared/compare/cell/histogram.ts';
import { PROVIDERS, LAYOUTS } from '../../shared/compare/dimensions.ts';
import { median } from '../../shared/compare/plan/median.ts';
import type { CellRun, PlanEvent } from '../../shared/compare/plan/outcome.ts';
import { decimal, whole } from '../../shared/compare/report/format.ts';
import { textTable } from '../../shared/compare/report/text-table.ts';
import { cellWords, loadWords } from '../../shared/compare/report/words.ts';

/** A plan as it runs, told by its events. */
export class LivePlan {
  readonly #startedMs: number;
  readonly #runs: CellRun[] = [];
  #failed = 0;
  #done = 0;
  #total = 0;
  #doing = '';
  #workload: string | undefined;

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  take(event: PlanEvent): void {
    if ('what' in event) {
      this.#doing = `${event.kind} ${event.what}`;
      return;
    }
    this.#done = event.done;
    this.#total = event.total;
    if (event.kind === 'begun') {
      this.#workload = event.cell.workload;
      this.#doing = `${cellWords(event.cell)}, run ${event.repetition}`;
    } else if (event.kind === 'ended') this.#runs.push(event.run);
    else if (event.kind === 'failed') this.#failed += 1;
  }

  /** The table of the present workload, and below it the line of `status`. */
  lines(nowMs: number): string[] {
    const own = this.#runs.filter(({ cell }) => cell.workload === this.#workload);
    const table = own.length === 0 ? [] : tableOf(own).split('\n');
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

/** A row for each layout, a column for each load: median throughput so far, and p50. */
function tableOf(runs: readonly CellRun[]): string {
  const [first] = runs;
  const loads = [...new Map(runs.map(({ cell }) => [loadWords(cell), cell.callers * cell.instances])).entries()];
  const titles = loads.toSorted(([, one], [, other]) => one - other).map(([words]) => words);
  const rows = PROVIDERS.flatMap((provider) =>
    LAYOUTS.flatMap((layout) => {
      const own = runs.filter(({ cell }) => cell.provider === provider && cell.layout === layout);
      if (own.length === 0) return [];
      const cells = titles.map((title) => soFar(own.filter(({ cell }) => loadWords(cell) === title)));
      return [[provider, layout, ...cells]];
    }),
  );
  return textTable([`${first!.cell.workload}, records/s and p50`, '', ...titles], rows, 2);
}

function soFar(runs: readonly CellRun[]): string {
  if (runs.length === 0) return '';
  const histograms = runs.flatMap(({ parts }) => parts.map(({ histogram }) => histogram));
  const { p50Ms } = latenciesOf(mergeHistograms(histograms));
  return `${whole(median(runs.map(rateOf)))} ${p50Ms === null ? '-' : `${decimal(p50Ms)} ms`}`;
}

/** Records a second of all instances of a run. */
export function rateOf({ parts }: CellRun): number {
  return parts.reduce((sum, { records, durationMs }) => sum + records / (durationMs / 1_000), 0);
}
