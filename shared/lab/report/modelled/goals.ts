// Goals of a plan against what the model shows.
import type { ModelLayout } from '../../kit/dimensions.ts';
import type { ModelResult } from '../../cloud/run/cell.ts';
import type { Goal, PlannedRow } from '../../plan/modelled/plan.ts';

/** A goal, and where it stands. */
export interface GoalResult extends Pick<PlannedRow, 'provider' | 'group'> {
  readonly case: string;
  /** `throughput : record`, `conflicts`. */
  readonly what: string;
  /** `at least 0.95`. */
  readonly wanted: string;
  /** Null where a figure stands on too few operations. */
  readonly value: number | null;
  readonly isReached: boolean;
}

/** A row with the results of its cells, in their order. */
export interface PlayedRow {
  readonly row: PlannedRow;
  readonly results: readonly ModelResult[];
}

export function goalsTitle(goals: readonly GoalResult[]): string {
  const reached = goals.filter(({ isReached }) => isReached).length;
  return `Goals of the container layout: ${reached} of ${goals.length} reached`;
}

export function goalsOf(played: readonly PlayedRow[]): GoalResult[] {
  return played.flatMap((one) => one.row.goals.map((goal) => resultOf(goal, one, played)));
}

function resultOf(goal: Goal, one: PlayedRow, all: readonly PlayedRow[]): GoalResult {
  const { row, results } = one;
  const { figure, layout = 'container', against, atLeast, atMost } = goal;
  const own = figureOf(resultFor(results, layout), figure);
  const other = against === undefined ? 1 : otherFigure(goal, one, all);
  const value = own === null || other === null ? null : own / (other * (against?.times ?? 1));
  const wanted = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
  ];
  return {
    provider: row.provider,
    group: row.group,
    case: results[0]!.cell.case,
    what: against === undefined ? figure : `${figure} : ${nameOf(against)}`,
    wanted: wanted.join(', '),
    value,
    isReached: value !== null && value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity),
  };
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

function figureOf(result: ModelResult | undefined, figure: Goal['figure']): number | null {
  if (result === undefined) return null;
  switch (figure) {
    case 'throughput':
      return result.operationsPerSecond;
    case 'p50':
      return result.p50Ms;
    case 'p99':
      return result.p99Ms;
    case 'requests':
      return result.requestsPerOperation;
    case 'conflicts':
      return result.conflictsPerOperation;
    case 'billed':
      return result.billedPerOperation * 1_000;
    case 'slowest':
      return result.slowestCaller;
    default:
      return figure satisfies never;
  }
}
