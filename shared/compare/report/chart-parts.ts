// What the charts of all reports are drawn with: axes, labels, numbers in few characters, and echarts itself, which needs no browser.
// Colours are the page's CSS variables.
import type { EChartsOption } from 'echarts';
import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';
import type { Panel } from './chart-panels.ts';
import type { ReportLayout } from './names.ts';

// No other part of echarts is drawn with: bundles leave them out.
use([BarChart, LineChart, GridComponent, TitleComponent, LabelLayout, SVGRenderer]);

/** Without quotes: it ends up inside a quoted attribute. */
const FONT = 'system-ui, sans-serif';
export const FONT_PX = 12;
export const INK = 'var(--ink)';
const FAINT = 'var(--line)';
const PAPER = 'var(--paper)';

/** A figure beside its point or bar; the halo keeps it readable where a line passes behind it. */
export const LABEL = {
  show: true,
  opacity: 1,
  color: INK,
  fontSize: FONT_PX,
  textBorderColor: PAPER,
  textBorderWidth: 3,
} as const;
export const SYMBOLS: Readonly<Record<ReportLayout, string>> = {
  record: 'circle',
  conditional: 'diamond',
  batch: 'rect',
  container: 'triangle',
};

export function panelTitles(titles: readonly string[], panels: readonly Panel[]): NonNullable<EChartsOption['title']> {
  return titles.map((text, at) => ({
    text,
    left: panels[at]!.left - 5,
    top: panels[at]!.titleTop,
    textStyle: { fontSize: FONT_PX + 1, fontWeight: 600, color: INK },
  }));
}

export function axis<Type extends 'category' | 'log' | 'value'>(type: Type, gridIndex: number) {
  return {
    type,
    gridIndex,
    axisLabel: { color: INK, fontSize: FONT_PX, hideOverlap: true },
    nameTextStyle: { color: INK, fontSize: FONT_PX },
    axisLine: { lineStyle: { color: FAINT } },
    axisTick: { show: false },
    splitLine: { show: type === 'log', lineStyle: { color: FAINT } },
  };
}

export function logAxis(gridIndex: number, min: number, max: number) {
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
export function decades(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return [1, 10];
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...positive) * 1.3));
  return [low, high];
}

export function valueText({ value }: { value?: unknown }): string {
  return value === '-' ? '' : short(Number(value));
}

/** `1.2k`, `45k`, `0.037`, `4e-7`: at most five characters. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '';
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(2))}M`;
  if (value >= 1_000) return `${Number((value / 1_000).toPrecision(value >= 100_000 ? 3 : 2))}k`;
  if (value >= 100) return String(Math.round(value));
  if (value > 0 && value < 0.01) return value.toExponential(0);
  return String(Number(value.toPrecision(2)));
}

/** The chart as an SVG element. */
export function svg(width: number, height: number, option: EChartsOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ animation: false, textStyle: { fontFamily: FONT }, backgroundColor: 'transparent', ...option });
    return withoutHooks(chart.renderToSVGString());
  } finally {
    chart.dispose();
  }
}

/**
 * What echarts adds for pointers and for its own script in a page: a style element, classes that are numbered on and on, places of data. A picture needs
 * none of it; without, the same figures make the same text, and no page has to allow a style of its own.
 */
function withoutHooks(text: string): string {
  return text.replaceAll(/<style[^]*?<\/style>/g, '').replaceAll(/ (class|ecmeta_\w+)="[^"]*"/g, '');
}
