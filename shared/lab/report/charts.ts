// Which charts a group of cells gets, as data: each is drawn by xy-chart.ts, in the shapes that a page needs, and told in words beside it.
import { isOfContainers, type Layout, LAYOUTS, type Provider, PROVIDERS } from '../kit/dimensions.ts';
import type { Figure } from '../kit/figure.ts';
import { short } from '../kit/format.ts';
import { PROVIDER_NAMES } from './names.ts';
import type { ReportCell } from './schema.ts';
import type { Line, Point, XyChart } from './xy-chart.ts';

export interface Chart extends XyChart {
  readonly title: string;
  /** What the marks mean, beyond colours and symbols; empty where they say it all. */
  readonly key: string;
}

type Dash = Line['dash'];
type Of = (cell: ReportCell) => Figure | null;

const DASHES: readonly Dash[] = ['solid', 'dashed', 'dotted'];
const throughput: Of = (cell) => cell.recordsPerSecond;
const rate = (cell: ReportCell): number => cell.recordsPerSecond.median;

/** The median operation and the slow one. */
const LATENCIES: readonly (readonly [of: Of, dash: Dash])[] = [
  [(cell) => cell.latency.p50Ms, 'solid'],
  [(cell) => cell.latency.p99Ms, 'dashed'],
];

/** Callers in flight on all instances together. */
export function callersOf({ callers, instances }: Pick<ReportCell, 'callers' | 'instances'>): number {
  return callers * instances;
}

/** Closed loop: of several container sizes the first, which the others have a chart of their own for. */
function mainCells(cells: readonly ReportCell[]): ReportCell[] {
  const closed = cells.filter(({ ratePerSecond }) => ratePerSecond === null);
  const first = closed.find(({ layout }) => isOfContainers(layout))?.containerKib ?? null;
  return closed.filter(({ layout, containerKib }) => !isOfContainers(layout) || containerKib === first);
}

/** All charts that the cells of one workload and record size have figures for. */
export function chartsOf(cells: readonly ReportCell[]): Chart[] {
  const main = mainCells(cells);
  const sized = cells.filter(({ containerKib, ratePerSecond }) => containerKib !== null && ratePerSecond === null);
  const open = cells.filter(({ ratePerSecond }) => ratePerSecond !== null);
  return [
    ...(main.length === 0 ? [] : [throughputChart(main), latencyChart(main)]),
    ...(distinct(sized.map(({ containerKib }) => containerKib)).length < 2 ? [] : [sizeChart(sized)]),
    ...(open.length === 0 ? [] : [openLoopChart(open)]),
  ];
}

function throughputChart(cells: readonly ReportCell[]): Chart {
  const instances = distinct(cells.map((cell) => cell.instances));
  const lines = (own: readonly ReportCell[]): Line[] =>
    byLayout(own).flatMap((some) =>
      instances.map((count, at) =>
        lineOf(
          some.filter((cell) => cell.instances === count),
          { of: throughput, x: callersOf, label: (_, y) => short(y), dash: DASHES[at % DASHES.length]! },
        ),
      ),
    );
  return {
    title: 'Throughput against callers',
    xName: 'callers in flight',
    yName: 'records a second',
    xBase: 2,
    panels: panelsBy(cells, lines),
    key: instances.length < 2 ? '' : `Lines: ${listOf(instances, 'instances')}.`,
  };
}

function latencyChart(cells: readonly ReportCell[]): Chart {
  return {
    title: 'Latency against throughput',
    xName: 'records a second',
    yName: 'milliseconds',
    xBase: 10,
    panels: panelsBy(cells, (own) => latencyLines(own, rate)),
    key: 'Solid: half of the operations were faster (p50). Dashed: 99 of 100 were (p99). Numbers: callers in flight.',
  };
}

function sizeChart(cells: readonly ReportCell[]): Chart {
  const callers = distinct(cells.map(callersOf));
  const lines = (own: readonly ReportCell[]): Line[] =>
    callers.map((count, at) =>
      lineOf(
        own.filter((cell) => cell.layout === 'container' && callersOf(cell) === count),
        {
          of: throughput,
          x: ({ containerKib }) => containerKib!,
          label: (_, y) => short(y),
          dash: DASHES[at % DASHES.length]!,
        },
      ),
    );
  return {
    title: 'Throughput against the largest container',
    xName: 'KiB',
    yName: 'records a second',
    xBase: 2,
    panels: panelsBy(cells, lines),
    key: `Lines: ${listOf(callers, 'callers in flight')}.`,
  };
}

function openLoopChart(cells: readonly ReportCell[]): Chart {
  return {
    title: 'Open loop: latency against the rate offered',
    xName: 'operations begun a second',
    yName: 'milliseconds from when an operation was due',
    xBase: 10,
    panels: panelsBy(cells, (own) => latencyLines(own, ({ ratePerSecond }) => ratePerSecond!)),
    key: 'Solid: p50. Dashed: p99.',
  };
}

function latencyLines(cells: readonly ReportCell[], x: (cell: ReportCell) => number): Line[] {
  return byLayout(cells).flatMap((some) =>
    LATENCIES.map(([of, dash]) =>
      lineOf(some, {
        of,
        x,
        label: (callers) => (dash === 'solid' && some[0]?.ratePerSecond === null ? String(callers) : ''),
        dash,
      }),
    ),
  );
}

interface LineOptions {
  readonly of: Of;
  readonly x: (cell: ReportCell) => number;
  readonly label: (callers: number, y: number) => string;
  readonly dash: Dash;
}

function lineOf(cells: readonly ReportCell[], { of, x, label, dash }: LineOptions): Line {
  const points = cells.flatMap((cell): Point[] => {
    const figure = of(cell);
    if (figure === null) return [];
    const { median, low, high } = figure;
    return [{ x: x(cell), y: median, interval: [low, high], label: label(callersOf(cell), median) }];
  });
  const { provider, layout } = cells[0] ?? { provider: PROVIDERS[0], layout: LAYOUTS[0] };
  return { provider, layout, dash, points };
}

function panelsBy(cells: readonly ReportCell[], lines: (own: readonly ReportCell[]) => Line[]): XyChart['panels'] {
  return providersIn(cells).map((provider) => ({
    title: PROVIDER_NAMES[provider],
    lines: lines(cells.filter((cell) => cell.provider === provider)).filter(({ points }) => points.length > 0),
  }));
}

/** Those that have cells, in the order of all reports. */
export function providersIn(cells: readonly Pick<ReportCell, 'provider'>[]): Provider[] {
  return PROVIDERS.filter((provider) => cells.some((cell) => cell.provider === provider));
}

/** Those that have cells, in the order of all reports. */
export function layoutsIn(cells: readonly Pick<ReportCell, 'layout'>[]): Layout[] {
  return LAYOUTS.filter((layout) => cells.some((cell) => cell.layout === layout));
}

/** Each layout's cells by load, ascending. */
function byLayout(cells: readonly ReportCell[]): ReportCell[][] {
  return layoutsIn(cells).map((layout) =>
    cells
      .filter((cell) => cell.layout === layout)
      .toSorted(
        (one, other) => callersOf(one) - callersOf(other) || (one.ratePerSecond ?? 0) - (other.ratePerSecond ?? 0),
      ),
  );
}

function listOf(values: readonly number[], what: string): string {
  return `${values.map((value, at) => `${DASHES[at % DASHES.length]!} ${value}`).join(', ')} ${what}`;
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)].toSorted((one, other) => Number(one) - Number(other));
}

/** The chart in words, for whoever does not see it: each line from its first to its last point. */
export function chartWords({ title, xName, yName, panels }: Chart): string {
  const told = panels.map(({ title: cloud, lines }) => {
    const solid = lines.filter(({ dash }) => dash === 'solid');
    return `${cloud}: ${solid.map(lineWords).join('; ')}`;
  });
  return `${title}, both scales logarithmic (${xName}; ${yName}). ${told.join('. ')}. Every figure is in the table below.`;
}

function lineWords({ layout, points }: Line): string {
  const [first, last] = [points[0]!, points.at(-1)!];
  return points.length === 1
    ? `${layout} ${pointWords(first)}`
    : `${layout} from ${pointWords(first)} to ${pointWords(last)}`;
}

function pointWords({ x, y }: Point): string {
  return `${short(y)} at ${short(x)}`;
}
