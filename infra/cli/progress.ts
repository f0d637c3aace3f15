// Progress of a plan: a line for each run.
import type { PlanEvent } from '../../shared/compare/plan/outcome.ts';
import { mergeParts } from '../../shared/compare/plan/merge.ts';

export function showEvent(event: PlanEvent): void {
  if (event.kind === 'ended') {
    const { cell, parts } = event.run;
    const rate = mergeParts(parts).recordsPerSecond.toFixed(0);
    console.log(
      `${event.done}/${event.total} ${cell.provider} ${cell.layout} ${cell.workload} x${cell.callers}: ${rate}/s`,
    );
  } else if (event.kind === 'failed') console.log(`${event.done}/${event.total} FAILED ${event.failure.error}`);
}
