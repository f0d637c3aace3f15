// How a load went over time: warm-up and window of every run of a layout as thin lines, the median of its runs as a thick one.
import { type Layout, LAYOUTS, type Provider } from '../kit/dimensions.ts';
import { short } from '../kit/format.ts';
import { median } from '../kit/median.ts';
import { callersOf, providersIn } from './charts.ts';
import {
  axes,
  decades,
  FAINT,
  line,
  linearScale,
  logScale,
  type Panel,
  panelsOf,
  rect,
  type Shape,
  type Spot,
  svg,
  symbol,
  text,
} from './chart-parts.ts';
import { colourOf, loadWords, PROVIDER_NAMES } from './names.ts';
import type { ReportCell, ReportRun } from './schema.ts';

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

const SIZES = { headPx: 32, heightPx: 190, footPx: 48, labelsPx: 46, rightPx: 26 };

/** The chart as an SVG element. */
export function courseChart({ panels }: CourseChart, shape: Shape): string {
  const places = panelsOf(panels.length, shape, SIZES);
  const moments = panels.flatMap(({ courses }) => courses.flatMap(({ runs }) => runs.flat()));
  const seconds = moments.map(([second]) => second);
  const [from, to] = [Math.min(0, ...seconds), Math.max(...seconds)];
  const rates = decades(moments.flatMap(([, rate]) => rate ?? []));
  const drawn = panels.map(({ title, courses }, at) => {
    const panel = places.panels[at]!;
    const x = linearScale([from, to], [panel.left, panel.left + panel.width]);
    const y = logScale(rates, [panel.top + panel.height, panel.top], 10);
    const place: Place = ([second, rate]) => (rate === null ? undefined : { x: x.at(second), y: y.at(rate) });
    return [
      ...(from < 0 ? [warmupGround(panel, x.at(0))] : []),
      axes(panel, { title, x: { ...x, name: 'seconds from the opening of the window', isPlain: true }, y }),
      ...courses.flatMap((course) => course.runs.map((run) => runLine(course, run.map(place)))),
      ...courses.map((course) => medianLine(course, course.median.map(place))),
    ].join('');
  });
  return svg(shape.widthPx, places.heightPx, drawn.join(''));
}

type Place = (moment: Moment) => Spot | undefined;

/** From the beginning of the load to the opening of the window. */
function warmupGround({ left, top, height }: Panel, endPx: number): string {
  const ground = rect({ x: left, y: top }, { x: endPx, y: top + height }, `fill="${FAINT}" opacity="0.45"`);
  return ground + text('warm-up', { x: (left + endPx) / 2, y: top + 15 }, { anchor: 'middle' });
}

function runLine({ provider, layout }: Course, spots: readonly (Spot | undefined)[]): string {
  return line(spots, { colour: colourOf(provider, layout), widthPx: 1, opacity: 0.45 });
}

/** With its symbol at its end. */
function medianLine({ provider, layout }: Course, spots: readonly (Spot | undefined)[]): string {
  const colour = colourOf(provider, layout);
  const last = spots.at(-1);
  return line(spots, { colour, widthPx: 2.5 }) + (last === undefined ? '' : symbol(layout, last, colour));
}
