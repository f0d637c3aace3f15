// A chart of lines over two logarithmic axes, with the interval of every point as a bar: what all charts of the comparison are. Pure SVG text.
import type { Provider } from '../dimensions.ts';
import { type Panel, panelsOf, type Shape } from './chart-panels.ts';
import { decades, LABEL, logAxis, panelTitles, svg, SYMBOLS } from './chart-parts.ts';
import { colourOf, type ReportLayout } from './names.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
  /** Ends of the interval of `y`; none where it is not known. */
  readonly interval?: readonly [low: number, high: number];
  /** Beside the point, where there is room. */
  readonly label?: string;
}

export interface Line {
  readonly provider: Provider;
  readonly layout: ReportLayout;
  readonly dash: 'solid' | 'dashed' | 'dotted';
  /** In the order in which they are joined. */
  readonly points: readonly Point[];
}

export interface XyChart {
  /** Panels beside each other, on a phone below each other; all of the same scale. */
  readonly panels: readonly { readonly title: string; readonly lines: readonly Line[] }[];
  readonly xName: string;
  readonly yName: string;
  /** What the ticks of the axis are powers of. */
  readonly xBase: 2 | 10;
}

const SIZES = { headPx: 32, heightPx: 230, footPx: 48, labelsPx: 46, rightPx: 26 };

/** The chart as an SVG element. Points that a logarithm cannot show (zero and below) are left out. */
export function xyChart({ panels, xName, xBase }: XyChart, shape: Shape): string {
  const places = panelsOf(panels.length, shape, SIZES);
  const shown = panels.map(({ title, lines }) => ({ title, lines: lines.map(drawable) }));
  const points = shown.flatMap(({ lines }) => lines.flatMap((line) => line.points));
  const [xMin, xMax] = bounds(
    points.map(({ x }) => x),
    xBase,
  );
  const [yMin, yMax] = decades(points.flatMap(({ y, interval = [] }) => [y, ...interval]));
  const titles = shown.map(({ title }) => title);
  const toPx = ({ x, y }: Point, { width, height }: Panel): Spot => ({
    right: (Math.log(x / xMin) / Math.log(xMax / xMin)) * width,
    up: (Math.log(y / yMin) / Math.log(yMax / yMin)) * height,
  });
  return svg(shape.widthPx, places.heightPx, {
    title: panelTitles(titles, places.panels),
    grid: places.panels,
    xAxis: shown.map((_, at) => ({
      ...xAxis(at, xMin, xMax, xBase),
      name: xName,
      nameLocation: 'middle' as const,
      nameGap: 26,
    })),
    yAxis: shown.map((_, at) => ({
      ...logAxis(at, yMin, yMax),
      minorSplitLine: { show: true, lineStyle: FAINT_LINE },
    })),
    series: shown.flatMap(({ lines }, at) => {
      const panel = places.panels[at]!;
      const spots = lines.flatMap((line) => line.points.map((point) => toPx(point, panel)));
      return lines.flatMap((line) => [
        ...intervalsOf(line, at),
        lineOf(line, at, (point) => labelOf(point, toPx(point, panel), spots)),
      ]);
    }),
  });
}

/** Where the axis has room beyond its powers, its ends have no ticks. */
function xAxis(at: number, min: number, max: number, logBase: 2 | 10) {
  const axis = logAxis(at, min, max);
  const ends = logBase === 2 ? { showMinLabel: false, showMaxLabel: false } : {};
  return { ...axis, logBase, axisLabel: { ...axis.axisLabel, ...ends } };
}

const FAINT_LINE = { color: 'var(--line)', opacity: 0.45 };

function drawable(line: Line): Line {
  return { ...line, points: line.points.filter(({ x, y }) => x > 0 && y > 0) };
}

/** The powers of the base around the values, one apart at least, with room for a label beside the first and the last point. */
function bounds(values: readonly number[], base: 2 | 10): [number, number] {
  if (base === 10) return decades(values);
  if (values.length === 0) return [1, 2];
  const low = Math.floor(Math.log2(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log2(Math.max(...values))));
  const room = ROOM_SHARE * (high - low);
  return [2 ** (low - room), 2 ** (high + room)];
}

const ROOM_SHARE = 0.07;

/** A point in its panel, in CSS pixels from the lower left. */
interface Spot {
  readonly right: number;
  readonly up: number;
}

/** Above its point, or below where another point is nearer above; none where both sides are taken: the table has every figure. */
function labelOf({ label = '' }: Point, own: Spot, spots: readonly Spot[]) {
  const beside = spots.filter(({ right, up }) => Math.abs(right - own.right) < LABEL_WIDTH_PX && up !== own.up);
  const room = (sign: 1 | -1): number =>
    Math.min(...beside.map(({ up }) => (up - own.up) * sign).filter((distance) => distance > 0));
  const [above, below] = [room(1), Math.min(room(-1), own.up)];
  return {
    show: label !== '' && Math.max(above, below) >= LABEL_HEIGHT_PX,
    formatter: label,
    position: above >= Math.min(below, 2 * LABEL_HEIGHT_PX) ? ('top' as const) : ('bottom' as const),
  };
}

const LABEL_WIDTH_PX = 26;
const LABEL_HEIGHT_PX = 22;

function lineOf({ provider, layout, dash, points }: Line, at: number, label: (point: Point) => object) {
  return {
    type: 'line' as const,
    silent: true,
    xAxisIndex: at,
    yAxisIndex: at,
    symbol: SYMBOLS[layout],
    symbolSize: 9,
    lineStyle: { width: 2.5, type: dash },
    color: colourOf(provider, layout),
    labelLayout: { hideOverlap: true },
    data: points.map((point) => ({ value: [point.x, point.y], label: label(point) })),
    label: LABEL,
    z: 3,
  };
}

/** A bar from low to high through each point, with caps. */
function intervalsOf({ provider, layout, points }: Line, at: number) {
  return points.flatMap(({ x, interval }) => {
    if (interval === undefined || interval[0] <= 0 || interval[0] === interval[1]) return [];
    return {
      type: 'line' as const,
      silent: true,
      xAxisIndex: at,
      yAxisIndex: at,
      symbol: 'rect',
      symbolSize: [10, 2],
      lineStyle: { width: 1.5 },
      color: colourOf(provider, layout),
      data: interval.map((y) => ({ value: [x, y] })),
      z: 2,
    };
  });
}
