// Curves over callers, a row for each workload and each size, a panel for each cloud and a line for
// each layout. Both axes are logarithmic: an equal distance is an equal ratio. Cells where the
// machine was the limit are hollow.
import { isOfContainers, type Layout, LAYOUTS, PROVIDERS } from '../kit/dimensions.ts';
import type { Figure } from '../kit/figure.ts';
import { intervalText, said, threeDigits, whole } from '../kit/figure-format.ts';
import { loadWords, PROVIDER_SHORT_NAMES, WORKLOAD_WORDS } from '../report/names.ts';
import type { Report, ReportCell } from '../report/report-schema.ts';
import { axisX, axisY, dot, gridY, line, plot, pointer, ruleX, text, tip } from '@observablehq/plot';

export interface Row {
  readonly id: string;
  readonly title: string;
  /** The sentences on the workload; empty where nothing is compared, or in another row of it. */
  readonly sentence: string;
  /** What is counted a second, such as `reads`. */
  readonly units: string;
  readonly cells: readonly ReportCell[];
  /** The ticks of its axis, in order: all of the plan's, whether they have run or not. */
  readonly callers: readonly number[];
}

export function rowsOf({ cells, sentences, plan }: Pick<Report, 'cells' | 'sentences' | 'plan'>): Row[] {
  const closed = cells.filter(({ ratePerSecond }) => ratePerSecond === null);
  const groups = Map.groupBy(closed, ({ workload, recordBytes, instances }) =>
    [workload, recordBytes, instances].join(' '),
  );
  const told = new Set<string>();
  return [...groups.values()].flatMap((group) => {
    const stored = group.filter(({ layout }) => isOfContainers(layout));
    const sizes = new Set(stored.length === 0 ? [null] : stored.map(({ containerKib }) => containerKib));
    return [...sizes].map((containerKib) => {
      const own = group.filter((cell) => !isOfContainers(cell.layout) || cell.containerKib === containerKib);
      const { workload, recordBytes, instances } = own[0]!;
      const { doing, units } = WORKLOAD_WORDS[workload];
      const texts = told.has(workload) ? [] : sentences.filter((one) => one.workload === workload);
      told.add(workload);
      const isOneOfSizes = closed.some((cell) => cell.recordBytes !== recordBytes);
      return {
        id: [workload, recordBytes, instances, containerKib ?? ''].join('-'),
        title: [
          doing + (isOneOfSizes ? ` of ${whole(recordBytes)} bytes` : ''),
          ...said(instances > 1 && `by ${instances} instances`),
          ...said(containerKib !== null && `in containers of ${containerKib} KiB`),
        ].join(', '),
        sentence: texts.map(({ text }) => text.replace(`${doing}: `, '')).join(' '),
        units,
        cells: own,
        callers: [...new Set([...plan.callers, ...own.map(({ callers }) => callers)])].toSorted((a, b) => a - b),
      };
    });
  });
}

/** What a curve may show over callers. */
export interface Measure {
  readonly name: string;
  /** `reads a second`. */
  readonly label: (units: string) => string;
  /** Null where replies are too few for it. */
  readonly of: (cell: ReportCell) => Pick<Figure, 'median' | 'low' | 'high'> | null;
}

/** The first is shown until another one is chosen. */
export const MEASURES: readonly Measure[] = [
  { name: 'rate', label: (units) => `${units} a second`, of: ({ recordsPerSecond }) => recordsPerSecond },
  { name: 'p50', label: () => 'half of the calls within, ms', of: ({ latency }) => alone(latency.p50Ms) },
  { name: 'p99', label: () => '99 of 100 calls within, ms', of: ({ latency }) => alone(latency.p99Ms) },
];

export const BILL: Measure = {
  name: 'bill',
  label: (units) => `dollars per million ${units}`,
  of: ({ dollarsPerMillionRecords }) => dollarsPerMillionRecords,
};

/** Percentiles are of all runs together, so that they have no interval. */
function alone(value: number | null): ReturnType<Measure['of']> {
  return value === null ? null : { median: value, low: value, high: value };
}

/** Shapes tell layouts apart where colours do not, as on paper. */
const SYMBOLS = { record: 'square', batch: 'triangle', container: 'circle', 'container-sdk': 'diamond' } as const;

export const GLYPHS: Readonly<Record<Layout, string>> = {
  record: '■',
  batch: '▲',
  container: '●',
  'container-sdk': '◆',
};

interface Point {
  readonly cloud: string;
  readonly layout: Layout;
  readonly callers: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly isMachineLimited: boolean;
  readonly words: string;
}

const MARGIN = { top: 16, right: 46, bottom: 18, left: 42 };
const LABEL_HEIGHT_PX = 11;

/** The clouds of a row share their axes. */
export function curvesOf(row: Row, measure: Measure, width: number, height: number): Element {
  const points = row.cells.flatMap((cell) => pointOf(cell, measure, row.units));
  const clouds = PROVIDERS.filter((provider) => row.cells.some((cell) => cell.provider === provider));
  const { callers } = row;
  const domain = domainOf(points);
  const ticks = ticksOf(domain);
  const x = { x: 'callers', y: 'value', fx: 'cloud' } as const;
  const svg = plot({
    width,
    height,
    marginTop: MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    ariaLabel: `${measure.label(row.units)} over callers, ${row.title}`,
    fx: { domain: clouds.map((provider) => PROVIDER_SHORT_NAMES[provider]), label: null, padding: 0.12 },
    x: { type: 'log', domain: [callers[0]! / 1.2, callers.at(-1)! * 1.2] },
    y: { type: 'log', domain },
    color: { domain: LAYOUTS, range: LAYOUTS.map((layout) => `var(--${layout})`) },
    symbol: { domain: LAYOUTS, range: LAYOUTS.map((layout) => SYMBOLS[layout]) },
    marks: [
      gridY(ticks),
      axisY(ticks, { text: short, tickSize: 0, label: null }),
      axisX(callers, { text: String, tickSize: 3, label: null }),
      ruleX(points, { x: 'callers', fx: 'cloud', y1: 'low', y2: 'high', stroke: 'layout', strokeOpacity: 0.5 }),
      line(points, { ...x, z: 'layout', stroke: 'layout', strokeWidth: 1.75 }),
      dot(points, {
        ...x,
        symbol: 'layout',
        stroke: 'layout',
        fill: ({ isMachineLimited, layout }: Point) => (isMachineLimited ? 'var(--paper)' : `var(--${layout})`),
        r: 3,
      }),
      text(labelsOf(points, domain, height), {
        ...x,
        text: 'words',
        fill: 'layout',
        textAnchor: 'start',
        dx: 7,
      }),
      tip(points, pointer({ ...x, title: 'words', maxRadius: 30 })),
    ],
  });
  svg.setAttribute('role', 'img');
  // The live page's policy allows no style but its own, which has what these rules say.
  svg.querySelector('style')!.remove();
  return svg;
}

function pointOf(cell: ReportCell, measure: Measure, units: string): Point[] {
  const figure = measure.of(cell);
  // A logarithmic axis has no place for a cost of 0; the table shows it.
  if (figure === null || figure.median <= 0) return [];
  const { provider, layout, callers, isMachineLimited } = cell;
  const { median, high } = figure;
  const low = figure.low > 0 ? figure.low : median;
  const interval = figure.low === high ? '' : ` (${intervalText(figure, threeDigits)})`;
  const words = `${layout}, ${loadWords(cell)}\n${threeDigits(median)}${interval} ${measure.label(units)}`;
  const limit = isMachineLimited ? '\nThe machine was the limit.' : '';
  const cloud = PROVIDER_SHORT_NAMES[provider];
  return [{ cloud, layout, callers, value: median, low, high, isMachineLimited, words: words + limit }];
}

/** With a little room, so that no point lies on an edge. */
function domainOf(points: readonly Point[]): [number, number] {
  if (points.length === 0) return [1, 10];
  return [Math.min(...points.map(({ low }) => low)) / 1.25, Math.max(...points.map(({ high }) => high)) * 1.25];
}

/** Powers of ten; the fewer there are, the more steps between them. */
function ticksOf([low, high]: readonly [number, number]): number[] {
  const decades = Array.from({ length: 30 }, (_, at) => 10 ** (at - 12));
  const range = Math.log10(high / low);
  const steps = range > 2 ? [1] : range > 0.7 ? [1, 2, 5] : [1, 1.5, 2, 3, 5, 7];
  return decades.flatMap((ten) => steps.map((step) => step * ten)).filter((tick) => tick >= low && tick <= high);
}

type Label = Pick<Point, 'cloud' | 'layout' | 'callers' | 'value' | 'words'>;

/** The last point's figure beside each line's end, moved so that no two of a panel overlap. */
function labelsOf(points: readonly Point[], [low, high]: readonly [number, number], height: number): Label[] {
  const step = (high / low) ** (LABEL_HEIGHT_PX / (height - MARGIN.top - MARGIN.bottom));
  const lines = Map.groupBy(points, ({ cloud, layout }) => `${cloud} ${layout}`);
  const lasts = [...lines.values()].map((own) =>
    own.reduce((one, other) => (other.callers > one.callers ? other : one)),
  );
  return [...Map.groupBy(lasts, ({ cloud }) => cloud).values()].flatMap((panel) => {
    let least = 0;
    return panel
      .toSorted((one, other) => one.value - other.value)
      .map(({ cloud, layout, callers, value }) => {
        const place = Math.max(value, least);
        least = place * step;
        return { cloud, layout, callers, value: place, words: short(value) };
      });
  });
}

/** `61k`, `1.2M`, `909`, `0.036`. */
function short(value: number): string {
  if (value >= 1_000)
    return new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 2 })
      .format(value)
      .replace('K', 'k');
  return String(Number(value.toPrecision(value >= 100 ? 3 : 2)));
}
