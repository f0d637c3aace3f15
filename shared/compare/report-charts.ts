// The charts of the report as SVG text, drawn by echarts without a browser. Axes of rates and costs are logarithmic: layouts differ by powers of ten.
import type { EChartsOption } from 'echarts';
import * as echarts from 'echarts';
import type { Layout, Provider, Workload } from './cell.ts';
import { LAYOUTS, WORKLOADS } from './cell.ts';
import { COLOURS, PROVIDER_NAMES, PROVIDER_SHORT_NAMES } from './names.ts';
import type { Report, ReportCell } from './report.ts';

/** Without quotes: it ends up inside a quoted attribute. */
const FONT = 'system-ui, sans-serif';
const INK = '#33404d';

/** A point's or bar's figure above it. */
const VALUE_LABEL = {
  show: true,
  position: 'top',
  formatter: ({ value }: { value?: unknown }) => short(Number(value)),
  color: INK,
  fontSize: 11,
} as const;
const FAINT = '#e3e8ed';
const PANEL_GAP_PX = 70;
const LEFT_PX = 78;
const SYMBOLS: Readonly<Record<Layout, string>> = { record: 'circle', batch: 'rect', container: 'triangle' };
const LATENCIES = [
  { name: 'p50', of: (cell: ReportCell) => cell.p50Ms, alpha: 'ff' },
  { name: 'p95', of: (cell: ReportCell) => cell.p95Ms, alpha: '99' },
  { name: 'p99', of: (cell: ReportCell) => cell.p99Ms, alpha: '4d' },
] as const;

/** Providers that have cells, in the report's order. */
export function providersOf(report: Report): Provider[] {
  return report.providers.filter(({ ran }) => ran).map(({ provider }) => provider);
}

/** Throughput against callers in flight, a panel for each provider, on the same scale. */
export function throughputChart(report: Report, workload: Workload): string {
  const providers = providersOf(report);
  const panels = panelsOf(providers.length, 940, { top: 64, height: 250 });
  const rates = report.cells
    .filter((cell) => cell.workload === workload)
    .map(({ recordsPerSecond }) => recordsPerSecond);
  const [min, max] = decades(rates);
  return svg(940, 366, {
    title: panelTitles(providers, panels),
    grid: panels,
    xAxis: providers.map((_, at) => ({
      ...axis('category', at),
      data: report.plan.rungs.map(String),
      name: 'callers in flight',
      nameLocation: 'middle' as const,
      nameGap: 28,
    })),
    yAxis: providers.map((_, at) => ({ ...logAxis(at, min, max), name: at === 0 ? 'records/s' : '' })),
    series: providers.flatMap((provider, at) =>
      LAYOUTS.map((layout) => ({
        type: 'line' as const,
        silent: true,
        name: layout,
        xAxisIndex: at,
        yAxisIndex: at,
        symbol: SYMBOLS[layout],
        symbolSize: 9,
        labelLayout: { hideOverlap: true },
        lineStyle: { width: 2.5 },
        color: COLOURS[provider][layout],
        data: report.plan.rungs.map((concurrency) => {
          const cell = find(report, { provider, layout, workload, concurrency });
          return cell === undefined ? '-' : cell.recordsPerSecond;
        }),
        label: VALUE_LABEL,
      })),
    ),
  });
}

/** p50, p95 and p99 of every layout at the highest rung, a panel for each provider. */
export function latencyChart(report: Report, workload: Workload): string {
  const providers = providersOf(report);
  const concurrency = Math.max(...report.plan.rungs);
  const panels = panelsOf(providers.length, 940, { top: 44, height: 210 });
  const cells = report.cells.filter((cell) => cell.workload === workload && cell.concurrency === concurrency);
  const [min, max] = decades(cells.flatMap((cell) => LATENCIES.map(({ of }) => of(cell))));
  return svg(940, 300, {
    title: panelTitles(providers, panels),
    grid: panels,
    xAxis: providers.map((_, at) => ({ ...logAxis(at, min, max), name: 'ms', nameGap: 8 })),
    yAxis: providers.map((_, at) => ({ ...axis('category', at), data: [...LAYOUTS], inverse: true })),
    series: providers.flatMap((provider, at) =>
      LATENCIES.map(({ name, of, alpha }) => ({
        type: 'bar' as const,
        silent: true,
        name,
        xAxisIndex: at,
        yAxisIndex: at,
        barGap: '8%',
        data: LAYOUTS.map((layout) => {
          const cell = find(report, { provider, layout, workload, concurrency });
          return {
            value: cell === undefined ? '-' : of(cell),
            itemStyle: { color: `${COLOURS[provider][layout]}${alpha}` },
          };
        }),
        label: {
          show: true,
          position: 'right' as const,
          formatter: ({ value }: { value?: unknown }) => (value === '-' ? '' : `${name} ${short(Number(value))}`),
          color: INK,
          fontSize: 11,
        },
      })),
    ),
  });
}

/** One figure a record set, for every provider, layout and workload, each at its best rung. */
export function spendingChart(report: Report, figureOf: (cell: ReportCell) => number, unit: string): string {
  const providers = providersOf(report);
  const value = (provider: Provider, layout: Layout, workload: Workload): number | undefined => {
    const cell = bestCell(report, provider, layout, workload);
    return cell === undefined ? undefined : figureOf(cell);
  };
  const all = report.cells.map(figureOf);
  const [min, max] = decades(all);
  return svg(940, 300, {
    grid: [{ left: LEFT_PX, right: 20, top: 36, height: 220 }],
    xAxis: [{ ...axis('category', 0), data: [...WORKLOADS] }],
    yAxis: [{ ...logAxis(0, min, max), name: unit, nameTextStyle: { align: 'left', color: INK } }],
    series: providers.flatMap((provider) =>
      LAYOUTS.map((layout) => ({
        type: 'bar' as const,
        silent: true,
        name: `${PROVIDER_SHORT_NAMES[provider]} ${layout}`,
        color: COLOURS[provider][layout],
        barGap: '12%',
        data: WORKLOADS.map((workload) => value(provider, layout, workload) ?? '-'),
        label: VALUE_LABEL,
      })),
    ),
  });
}

function bestCell(report: Report, provider: Provider, layout: Layout, workload: Workload): ReportCell | undefined {
  const row = report.summary.find((one) => one.provider === provider && one.workload === workload);
  const concurrency = row?.best[layout]?.concurrency;
  return concurrency === undefined ? undefined : find(report, { provider, layout, workload, concurrency });
}

type Coordinates = Pick<ReportCell, 'provider' | 'layout' | 'workload' | 'concurrency'>;

function find({ cells }: Report, wanted: Coordinates): ReportCell | undefined {
  return cells.find(
    (cell) =>
      cell.provider === wanted.provider &&
      cell.layout === wanted.layout &&
      cell.workload === wanted.workload &&
      cell.concurrency === wanted.concurrency,
  );
}

interface Panel {
  readonly left: number;
  readonly width: number;
  readonly top: number;
  readonly height: number;
}

function panelsOf(count: number, widthPx: number, vertical: Pick<Panel, 'top' | 'height'>): Panel[] {
  const width = (widthPx - LEFT_PX - 50 - PANEL_GAP_PX * (count - 1)) / count;
  return Array.from({ length: count }, (_, at) => ({
    left: LEFT_PX + at * (width + PANEL_GAP_PX),
    width,
    ...vertical,
  }));
}

function panelTitles(providers: readonly Provider[], panels: readonly Panel[]): NonNullable<EChartsOption['title']> {
  return providers.map((provider, at) => ({
    text: PROVIDER_NAMES[provider],
    left: panels[at]!.left - 4,
    top: 4,
    textStyle: { fontSize: 14, fontWeight: 600, color: INK },
  }));
}

function axis<Type extends 'category' | 'log'>(type: Type, gridIndex: number) {
  return {
    type,
    gridIndex,
    axisLabel: { color: INK },
    nameTextStyle: { color: INK },
    axisLine: { lineStyle: { color: '#9aa7b4' } },
    axisTick: { show: false },
    splitLine: { show: type === 'log', lineStyle: { color: FAINT } },
  };
}

function logAxis(gridIndex: number, min: number, max: number) {
  const base = axis('log', gridIndex);
  return {
    ...base,
    min,
    max,
    startValue: min,
    axisLabel: { ...base.axisLabel, formatter: (value: number) => short(value) },
  };
}

/** The powers of ten around the values, with room above for a label. */
function decades(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return [1, 10];
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...positive) * 1.3));
  return [low, high];
}

/** `1.2k`, `45k`, `0.037`, `4e-7`: at most five characters. */
function short(value: number): string {
  if (!Number.isFinite(value)) return '';
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(2))}M`;
  if (value >= 1_000) return `${Number((value / 1_000).toPrecision(value >= 100_000 ? 3 : 2))}k`;
  if (value >= 100) return String(Math.round(value));
  if (value > 0 && value < 0.01) return value.toExponential(0);
  return String(Number(value.toPrecision(2)));
}

function svg(width: number, height: number, option: EChartsOption): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ animation: false, textStyle: { fontFamily: FONT }, backgroundColor: 'transparent', ...option });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}
