// The report's picture and tables of a comparison while it runs.
import type { CellRun, FailedRun, PlanEvent, PlanOutcome } from '../../../shared/lab/plan/outcome.ts';
import type { Plan } from '../../../shared/lab/plan/plan.ts';
import { pictureHtml } from '../../../shared/lab/report/html-lead.ts';
import { noteHtml } from '../../../shared/lab/report/html-parts.ts';
import { workloadHtml } from '../../../shared/lab/report/html-workload.ts';
import { pairsOf } from '../../../shared/lab/report/lead.ts';
import { reportOf } from '../../../shared/lab/report/report.ts';
import type { Circumstances } from '../../../shared/lab/report/schema.ts';
import { cellWords, failureWords } from '../../../shared/lab/report/names.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import { WORKLOADS } from '../../../shared/lab/kit/dimensions.ts';

/** The outcome of a plan while it grows. */
export class LiveOutcome {
  readonly #runs: CellRun[] = [];
  readonly #failures: FailedRun[] = [];

  /** True if there is something new to draw. */
  take(event: PlanEvent): boolean {
    if (event.kind === 'ended') this.#runs.push(event.run);
    else if (event.kind === 'failed') this.#failures.push(event.failure);
    return event.kind === 'ended' || event.kind === 'failed';
  }

  soFar(): PlanOutcome {
    const [runs, failures] = [this.#runs, this.#failures];
    return { runs, failures, searches: [], leftOut: [], leftovers: [], endedEarly: 'still running' };
  }
}

export function liveHtml(outcome: PlanOutcome, plan: Plan, circumstances: Circumstances): string {
  const report = reportOf(outcome, plan, PRICES_2026_11, circumstances);
  const measured = WORKLOADS.filter((workload) => report.cells.some((cell) => cell.workload === workload));
  const tables = measured.map((workload) => workloadHtml(report, workload));
  const failed = outcome.failures.slice(-FAILURES_SHOWN).map(failureWords);
  const failures = noteHtml(`Runs that failed: ${outcome.failures.length}`, failed, 'warning');
  return failures + pictureHtml(pairsOf(report.summary)) + tables.join('');
}

/** The last ones: a function that is gone fails everything. */
const FAILURES_SHOWN = 5;

export function eventWords(event: Exclude<PlanEvent, { kind: 'making' | 'gone' }>): string {
  if ('what' in event) return `${event.kind === 'preparing' ? 'Loading' : 'Removing'} ${event.what} …`;
  const done = `${event.done} of ${event.total} runs`;
  return event.kind === 'begun' ? `${done}: ${cellWords(event.cell)}, run ${event.repetition} …` : `${done}.`;
}
