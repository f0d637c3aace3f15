// Rows of a model's plan, as its tests want them.
import { type PlanInput, type PlannedRow, planSchema, rowsOf } from '../../shared/lab/plan/modelled/plan.ts';
import type { ModelCell } from '../../shared/lab/cloud/run/cell.ts';

/** `settings`: Datastore's. */
export function plannedRows(plan: PlanInput, seed = 1, settings: ModelCell['settings'] = {}): PlannedRow[] {
  const both = { datastore: settings, 'azure-tables': {} };
  return rowsOf({ plan: planSchema.parse(plan), seed, settings: both, processor: true });
}
