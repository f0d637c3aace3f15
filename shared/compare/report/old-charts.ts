// The charts of the report as SVG text, drawn by echarts without a browser. Axes of rates and costs are logarithmic: layouts differ by powers of ten.
// Each is drawn in two shapes, for pages and for phones: one shrunk to a phone's width could not be read. Colours are the page's CSS variables.
import { OLD_WORKLOADS, type OldWorkload } from '../cell/old-cell.ts';
import { type Layout, LAYOUTS, type Provider } from '../dimensions.ts';
import { panelsOf, type Shape } from './chart-panels.ts';
import { axis, decades, FONT_PX, LABEL, logAxis, panelTitles, short, svg, SYMBOLS, valueText } from './chart-parts.ts';
import { colourOf, PROVIDER_NAMES, PROVIDER_SHORT_NAMES } from './names.ts';
import type { Report, ReportCell } from './old-schema.ts';

const THROUGHPUT_PX = 220;
const LATENCIES = [
  { name: 'p50', of: (cell: ReportCell) => cell.p50Ms, opacity: 1 },
  { name: 'p95', of: (cell: ReportCell) => cell.p95Ms, opacity: 0.65 },
  { name: 'p99', of: (cell: ReportCell) => cell.p99Ms, opacity: 0.4 },
] as const;

/** Providers that have cells, in the report's order. */
export function providersOf(report: Report): Provider[] {
  return report.providers.filter(({ ran }) => ran).map(({ provider }) => provider);
}

/** Throughput against callers in flight, a panel for each provider, on the same scale. */
export function throughputChart(report: Report, workload: OldWorkload, shape: Shape): string {
  const providers = providersOf(report);
  const names = providers.map((provider) => PROVIDER_NAMES[provider]);
  const { panels, heightPx } = panelsOf(names.length, shape, {
    headPx: 44,
    heightPx: THROUGHPUT_PX,
    footPx: 50,
    labelsPx: 44,
    rightPx: 22,
  });
  const rates = report.cells.filter((cell) => cell.workload === workload).map((cell) => cell.recordsPerSecond);
  const [min, max] = decades(rates);
  const pxPerFactorTen = THROUGHPUT_PX / Math.log10(max / min);
  return svg(shape.widthPx, heightPx, {
    title: panelTitles(names, panels),
    grid: panels,
    xAxis: providers.map((_, at) => ({
      ...axis('category', at),
      data: report.plan.concurrencies.map(String),
      name: 'callers in flight',
      nameLocation: 'middle' as const,
      nameGap: 26,
    })),
    yAxis: providers.map((_, at) => logAxis(at, min, max)),
    series: providers.flatMap((provider, at) =>
      LAYOUTS.map((layout) => line(report, { provider, layout, workload }, at, pxPerFactorTen)),
    ),
  });
}

function line(report: Report, series: Omit<Coordinates, 'concurrency'>, at: number, pxPerFactorTen: number) {
  return {
    type: 'line' as const,
    silent: true,
    name: series.layout,
    xAxisIndex: at,
    yAxisIndex: at,
    symbol: SYMBOLS[series.layout],
    symbolSize: 9,
    labelLayout: { hideOverlap: true },
    lineStyle: { width: 2.5 },
    color: colourOf(series.provider, series.layout),
    data: report.plan.concurrencies.map((concurrency) => {
      const value = find(report, { ...series, concurrency })?.recordsPerSecond;
      const others = LAYOUTS.filter((layout) => layout !== series.layout).flatMap(
        (layout) => find(report, { ...series, layout, concurrency })?.recordsPerSecond ?? [],
      );
      return value === undefined ? '-' : { value, label: labelPlace(value, others, pxPerFactorTen) };
    }),
    label: { ...LABEL, formatter: valueText },
  };
}

/** Which side of a point its label stands on: where the neighbouring point is further away. No label where it would cover that point: the table has every figure. */
function labelPlace(value: number, others: readonly number[], pxPerFactorTen: number) {
  const room = (some: readonly number[]): number =>
    Math.min(...some.map((other) => Math.abs(Math.log10(other / value)))) * pxPerFactorTen;
  const above = room(others.filter((other) => other > value));
  const below = room(others.filter((other) => other <= value));
  return {
    show: Math.max(above, below) >= 2 * FONT_PX,
    position: above >= below ? ('top' as const) : ('bottom' as const),
  };
}

/** p50, p95 and p99 of every layout at the highest concurrency with the operations they stand on, a panel for each provider. */
export function latencyChart(report: Report, workload: OldWorkload, shape: Shape): string {
  const providers = providersOf(report);
  const names = providers.map((provider) => PROVIDER_NAMES[provider]);
  const concurrency = Math.max(...report.plan.concurrencies);
  const { panels, heightPx } = panelsOf(names.length, shape, {
    headPx: 32,
    heightPx: 204,
    footPx: 34,
    labelsPx: 84,
    rightPx: 62,
  });
  const cells = report.cells.filter((cell) => cell.workload === workload && cell.concurrency === concurrency);
  const [min, max] = decades(cells.flatMap((cell) => LATENCIES.map(({ of }) => of(cell) ?? 0)));
  return svg(shape.widthPx, heightPx, {
    title: panelTitles(names, panels),
    grid: panels,
    xAxis: providers.map((_, at) => logAxis(at, min, max)),
    yAxis: providers.map((provider, at) => ({
      ...axis('category', at),
      data: LAYOUTS.map((layout) => {
        const cell = find(report, { provider, layout, workload, concurrency });
        return `${layout}\n${cell === undefined ? 'failed' : `${cell.operations.toLocaleString('en-US')} op.`}`;
      }),
      inverse: true,
    })),
    series: providers.flatMap((provider, at) =>
      LATENCIES.map(({ name, of, opacity }) => ({
        type: 'bar' as const,
        silent: true,
        name,
        xAxisIndex: at,
        yAxisIndex: at,
        barGap: '8%',
        data: LAYOUTS.map((layout) => {
          const cell = find(report, { provider, layout, workload, concurrency });
          return {
            value: (cell === undefined ? null : of(cell)) ?? '-',
            itemStyle: { color: colourOf(provider, layout), opacity },
          };
        }),
        label: {
          ...LABEL,
          position: 'right' as const,
          formatter: ({ value }: { value?: unknown }) => (value === '-' ? '' : `${name} ${short(Number(value))}`),
        },
      })),
    ),
  });
}

/** One figure a record set, for every provider, layout and workload, each at its best concurrency; a panel for each workload. */
export function spendingChart(report: Report, figureOf: (cell: ReportCell) => number, shape: Shape): string {
  const series = providersOf(report).flatMap((provider) => LAYOUTS.map((layout) => ({ provider, layout })));
  const [min, max] = decades(report.cells.map(figureOf));
  const vertical = { headPx: 32, heightPx: 24 * series.length, footPx: 30 };
  const { panels, heightPx } = panelsOf(OLD_WORKLOADS.length, shape, {
    ...vertical,
    labelsPx: 136,
    rightPx: 50,
    areLabelsShared: true,
  });
  const names = series.map(({ provider, layout }) => `${PROVIDER_SHORT_NAMES[provider]} ${layout}`);
  return svg(shape.widthPx, heightPx, {
    title: panelTitles(OLD_WORKLOADS, panels),
    grid: panels,
    xAxis: OLD_WORKLOADS.map((_, at) => logAxis(at, min, max)),
    yAxis: OLD_WORKLOADS.map((_, at) => {
      const base = axis('category', at);
      return { ...base, data: names, inverse: true, axisLabel: { ...base.axisLabel, show: panels[at]!.hasLabels } };
    }),
    series: OLD_WORKLOADS.map((workload, at) => ({
      type: 'bar' as const,
      silent: true,
      xAxisIndex: at,
      yAxisIndex: at,
      barCategoryGap: '25%',
      data: series.map(({ provider, layout }) => {
        const cell = bestCell(report, provider, layout, workload);
        return { value: cell === undefined ? '-' : figureOf(cell), itemStyle: { color: colourOf(provider, layout) } };
      }),
      label: { ...LABEL, position: 'right' as const, formatter: valueText },
    })),
  });
}

function bestCell(report: Report, provider: Provider, layout: Layout, workload: OldWorkload): ReportCell | undefined {
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
