// Goals of a plan against the figures of the model.
import type { ModelLayout } from '../../kit/dimensions.ts';
import type { ModelResult } from '../../cloud/run/cell.ts';
import type { Goal, PlannedRow } from '../../plan/modelled/plan.ts';
import { goalFinding } from '../chapters/goal.ts';
import type { Finding } from '../chapters/schema.ts';
import { PROVIDER_SHORT_NAMES } from '../names.ts';

/** A row with the results of its cells, in their order. */
export interface PlayedRow {
  readonly row: PlannedRow;
  readonly results: readonly ModelResult[];
}

/** Goals of some rows; `all` has those that they are against. */
export function goalsOf(rows: readonly PlayedRow[], all: readonly PlayedRow[]): Finding[] {
  return rows.flatMap((one) => one.row.goals.map((goal) => findingOf(goal, one, all)));
}

function findingOf(goal: Goal, one: PlayedRow, all: readonly PlayedRow[]): Finding {
  const { figure, layout = 'container', against } = goal;
  const own = figureOf(resultFor(one.results, layout), figure);
  const other = against === undefined ? 1 : otherFigure(goal, one, all);
  const value = own === null || other === null ? null : own / (other * (against?.times ?? 1));
  const what = against === undefined ? figure : `${figure} : ${nameOf(against)}`;
  return goalFinding(`${PROVIDER_SHORT_NAMES[one.row.provider]}, ${one.results[0]!.cell.case}, ${what}`, value, goal);
}

function nameOf({ layout, row, times }: NonNullable<Goal['against']>): string {
  return [...(times === undefined ? [] : [`${times} x`]), layout, ...(row === undefined ? [] : [`of "${row}"`])].join(
    ' ',
  );
}

function otherFigure({ figure, against }: Goal, one: PlayedRow, all: readonly PlayedRow[]): number | null {
  const { layout, row: id } = against!;
  const isIt = ({ row }: PlayedRow): boolean => row.id === id && row.provider === one.row.provider;
  const played = id === undefined ? one : all.find(isIt);
  return played === undefined ? null : figureOf(resultFor(played.results, layout), figure);
}

function resultFor(results: readonly ModelResult[], layout: ModelLayout): ModelResult | undefined {
  return results.find(({ cell }) => cell.layout === layout);
}

const FIGURES: Readonly<Record<Goal['figure'], (result: ModelResult) => number | null>> = {
  throughput: (result) => result.operationsPerSecond,
  p50: (result) => result.p50Ms,
  p99: (result) => result.p99Ms,
  requests: (result) => result.requestsPerOperation,
  conflicts: (result) => result.conflictsPerOperation,
  billed: (result) => result.billedPerOperation * 1_000,
  slowest: (result) => result.slowestCaller,
};

function figureOf(result: ModelResult | undefined, figure: Goal['figure']): number | null {
  return result === undefined ? null : FIGURES[figure](result);
}
