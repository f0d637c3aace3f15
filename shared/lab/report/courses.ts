// How a load went over time, as data: warm-up and window of every run of a layout, and the median of its runs. Drawn by course-chart.ts.
import { type Layout, LAYOUTS, type Provider } from '../kit/dimensions.ts';
import { median } from '../kit/median.ts';
import { callersOf, providersIn } from './charts.ts';
import { short } from './chart-scales.ts';
import { PROVIDER_NAMES } from './names.ts';
import type { ReportCell, ReportRun } from './schema.ts';
import { loadWords } from './words.ts';

/** Records a second at a moment, in seconds from the opening of the window; null: no reply came in that step, and the line has a gap. */
export type Moment = readonly [second: number, recordsPerSecond: number | null];

export interface Course {
  readonly provider: Provider;
  readonly layout: Layout;
  readonly runs: readonly (readonly Moment[])[];
  /** Of the runs, in steps that all of them have. */
  readonly median: readonly Moment[];
}

/** The courses of all layouts under one load, a panel for each cloud. */
export interface CourseChart {
  readonly title: string;
  readonly panels: readonly { readonly title: string; readonly courses: readonly Course[] }[];
}

/** A chart for each load; of several container sizes the first. Loads without a whole step have none. */
export function coursesOf(cells: readonly ReportCell[]): CourseChart[] {
  const loads = Map.groupBy(inOrder(cells), loadWords);
  return [...loads].flatMap(([load, own]) => {
    const panels = providersIn(own).map((provider) => ({
      title: PROVIDER_NAMES[provider],
      courses: LAYOUTS.flatMap((layout) => {
        const cell = own.find((one) => one.provider === provider && one.layout === layout);
        const course = cell === undefined ? undefined : courseOf(cell);
        return course === undefined || course.median.length === 0 ? [] : [course];
      }),
    }));
    return panels.every(({ courses }) => courses.length === 0) ? [] : [{ title: `Over time, ${load}`, panels }];
  });
}

/** Closed loops before open ones, and each by how heavy it is. */
function inOrder(cells: readonly ReportCell[]): ReportCell[] {
  return cells.toSorted(
    (one, other) => (one.ratePerSecond ?? 0) - (other.ratePerSecond ?? 0) || callersOf(one) - callersOf(other),
  );
}

function courseOf({ provider, layout, runs }: ReportCell): Course {
  const windows = runs.map(windowOf);
  const steps = Math.min(...windows.map(({ length }) => length));
  return {
    provider,
    layout,
    runs: runs.map((run, at) => [...warmupOf(run), ...windows[at]!]),
    median: Array.from({ length: steps }, (_, step): Moment => {
      const rates = windows.map((moments) => moments[step]![1] ?? 0);
      return [windows[0]![step]![0], orGap(median(rates))];
    }),
  };
}

/** The steps that the end of the window did not cut short. */
function windowOf({ series: { stepMs, records }, parts }: ReportRun): Moment[] {
  const endMs = Math.min(...parts.map(({ durationMs }) => durationMs));
  return wholeSteps({ stepMs, records, fromMs: 0, lengthMs: endMs });
}

/** Those that its opening did not cut short. */
function warmupOf({ series: { stepMs, warmupRecords }, parts }: ReportRun): Moment[] {
  const lengthMs = Math.min(...parts.map(({ warmupMs }) => warmupMs));
  return wholeSteps({ stepMs, records: warmupRecords, fromMs: -lengthMs, lengthMs });
}

interface Steps {
  readonly stepMs: number;
  readonly records: readonly number[];
  readonly fromMs: number;
  readonly lengthMs: number;
}

function wholeSteps({ stepMs, records, fromMs, lengthMs }: Steps): Moment[] {
  return Array.from({ length: Math.floor(lengthMs / stepMs) }, (_, step): Moment => {
    const second = (fromMs + (step + 0.5) * stepMs) / 1_000;
    return [second, orGap(((records[step] ?? 0) * 1_000) / stepMs)];
  });
}

/** A logarithmic scale has no place for nothing. */
function orGap(rate: number): number | null {
  return rate > 0 ? rate : null;
}

/** The chart in words, for whoever does not see it. */
export function courseWords({ title, panels }: CourseChart): string {
  const told = panels.map(({ title: cloud, courses }) => `${cloud}: ${courses.map(oneCourse).join('; ')}`);
  return `${title}: records a second in each step of the window, the median of the runs. ${told.join('. ')}.`;
}

function oneCourse({ layout, median: moments }: Course): string {
  const rates = moments.map(([, rate]) => rate ?? 0);
  return `${layout} begins at ${short(rates[0]!)} and ends at ${short(rates.at(-1)!)}, between ${short(Math.min(...rates))} and ${short(Math.max(...rates))}`;
}
