// Throughput over time as lines: thin ones for the runs, a thick one for their median, and the warm-up on a ground of its own. Pure SVG text.
import { axis, decades, FONT_PX, INK, logAxis, panelTitles, short, svg, SYMBOLS } from './chart-parts.ts';
import { panelsOf, type Shape } from './chart-panels.ts';
import type { Course, CourseChart, Moment } from './courses.ts';
import { colourOf } from './names.ts';

const SIZES = { headPx: 32, heightPx: 190, footPx: 48, labelsPx: 46, rightPx: 26 };

/** The chart as an SVG element. */
export function courseChart({ panels }: CourseChart, shape: Shape): string {
  const places = panelsOf(panels.length, shape, SIZES);
  const moments = panels.flatMap(({ courses }) => courses.flatMap(({ runs }) => runs.flat()));
  const seconds = moments.map(([second]) => second);
  const [from, to] = [Math.min(0, ...seconds), Math.max(...seconds)];
  const rates = decades(moments.flatMap(([, rate]) => rate ?? []));
  const titles = panels.map(({ title }) => title);
  return svg(shape.widthPx, places.heightPx, {
    title: panelTitles(titles, places.panels),
    grid: places.panels,
    xAxis: panels.map((_, at) => timeAxis(at, from, to)),
    yAxis: panels.map((_, at) => logAxis(at, ...rates)),
    series: panels.flatMap(({ courses }, at) => [
      ...(from < 0 ? [warmupGround(at, from, rates[1])] : []),
      ...courses.flatMap((course) => [...course.runs.map((run) => runLine(course, run, at)), medianLine(course, at)]),
    ]),
  });
}

function timeAxis(at: number, min: number, max: number) {
  const base = axis('value', at);
  return {
    ...base,
    min,
    max,
    name: 'seconds from the opening of the window',
    nameLocation: 'middle' as const,
    nameGap: 26,
    axisLabel: { ...base.axisLabel, formatter: short, showMinLabel: false, showMaxLabel: false },
  };
}

/** From the beginning of the load to the opening of the window. */
function warmupGround(at: number, from: number, top: number) {
  const label = { show: true, formatter: 'warm-up', position: 'bottom', color: INK, fontSize: FONT_PX } as const;
  return {
    ...placeOf(at),
    symbol: 'circle',
    symbolSize: 0,
    lineStyle: { width: 0 },
    areaStyle: { color: 'var(--line)', opacity: 0.45, origin: 'start' as const },
    data: [{ value: [from, top] }, { value: [from / 2, top], label }, { value: [0, top] }],
    z: 0,
  };
}

function runLine({ provider, layout }: Course, moments: readonly Moment[], at: number) {
  return {
    ...placeOf(at),
    symbol: 'none',
    color: colourOf(provider, layout),
    lineStyle: { width: 1, opacity: 0.45 },
    data: moments.map((moment) => [...moment]),
    z: 2,
  };
}

/** With its symbol at its end. */
function medianLine({ provider, layout, median }: Course, at: number) {
  return {
    ...placeOf(at),
    color: colourOf(provider, layout),
    lineStyle: { width: 2.5 },
    symbolSize: 9,
    showAllSymbol: true,
    data: median.map((moment, step) => ({
      value: [...moment],
      symbol: step === median.length - 1 ? SYMBOLS[layout] : 'none',
    })),
    z: 3,
  };
}

function placeOf(at: number) {
  return { type: 'line' as const, silent: true, xAxisIndex: at, yAxisIndex: at };
}
