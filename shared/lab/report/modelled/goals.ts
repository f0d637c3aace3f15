// Goals of a plan against the figures of the model.
import type { ModelLayout } from '../../kit/dimensions.ts';
import { said } from '../../kit/format.ts';
import type { ModelResult } from '../../cloud/run/cell.ts';
import type { Goal, PlannedRow } from '../../plan/modelled/plan.ts';
import { goalFinding } from '../chapters/goal.ts';
import type { Finding } from '../chapters/schema.ts';
import { PROVIDER_SHORT_NAMES } from '../names.ts';

export interface PlayedRow {
  readonly row: PlannedRow;
  readonly results: readonly ModelResult[];
}

/** Goals of some rows; `all` has those that they are against. */
export function goalsOf(rows: readonly PlayedRow[], all: readonly PlayedRow[]): Finding[] {
  return rows.flatMap((one) => one.row.goals.map((goal) => findingOf(goal, one, all)));
}

function findingOf(goal: Goal, one: PlayedRow, all: readonly PlayedRow[]): Finding {
  const { figure, against } = goal;
  const isOther = ({ row }: PlayedRow): boolean => row.id === against?.row && row.provider === one.row.provider;
  const played = against?.row === undefined ? one : all.find(isOther);
  const own = figureIn(one, 'container', figure);
  const other = against === undefined ? 1 : figureIn(played, against.layout, figure);
  const value = own === null || other === null ? null : own / (other * (against?.times ?? 1));
  const what = against === undefined ? figure : `${figure} : ${nameOf(against)}`;
  return goalFinding(`${PROVIDER_SHORT_NAMES[one.row.provider]}, ${one.results[0]!.cell.case}, ${what}`, value, goal);
}

function nameOf({ layout, row, times }: NonNullable<Goal['against']>): string {
  return said(times !== undefined && `${times} x`, layout, row !== undefined && `of "${row}"`).join(' ');
}

function figureIn(played: PlayedRow | undefined, layout: ModelLayout, figure: Goal['figure']): number | null {
  const result = played?.results.find(({ cell }) => cell.layout === layout);
  return result === undefined ? null : FIGURES[figure](result);
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
