// A chart of lines over two logarithmic axes, with the interval of every point as a bar: what all charts of the comparison are. Pure SVG text.
import type { Layout, Provider } from '../kit/dimensions.ts';
import { axes, decades, labels, line, logScale, panelsOf, type Shape, type Spot, svg, symbol } from './chart-parts.ts';
import { colourOf } from './names.ts';

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
  readonly layout: Layout;
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

const SIZES = { headPx: 32, footPx: 48, labelsPx: 46, rightPx: 26 };
/** Lower on a phone, where panels stand below each other. */
const HEIGHT_PX = { wide: 230, narrow: 150 } as const;

/** The chart as an SVG element. Points that a logarithm cannot show (zero and below) are left out. */
export function xyChart({ panels, xName, xBase }: XyChart, shape: Shape): string {
  const places = panelsOf(panels.length, shape, { ...SIZES, heightPx: HEIGHT_PX[shape.name] });
  const shown = panels.map(({ title, lines }) => ({ title, lines: lines.map(drawable) }));
  const points = shown.flatMap(({ lines }) => lines.flatMap((one) => one.points));
  const xRange = bounds(
    points.map(({ x }) => x),
    xBase,
  );
  const yRange = decades(points.flatMap(({ y, interval = [] }) => [y, ...interval]));
  const drawn = shown.map(({ title, lines }, at) => {
    const panel = places.panels[at]!;
    const x = logScale(xRange, [panel.left, panel.left + panel.width], xBase);
    const y = logScale(yRange, [panel.top + panel.height, panel.top], 10);
    const place: Place = (point) => ({ x: x.at(point.x), y: y.at(point.y) });
    const marks = [
      ...lines.map((one) => intervalsOf(one, place)),
      ...lines.map((one) => lineOf(one, place)),
      labelsOf(lines, place),
    ];
    return axes(panel, { title, x: { ...x, name: xName }, y }) + marks.join('');
  });
  return svg(shape.widthPx, places.heightPx, drawn.join(''));
}

type Place = (point: Pick<Point, 'x' | 'y'>) => Spot;

function drawable(one: Line): Line {
  return { ...one, points: one.points.filter(({ x, y }) => x > 0 && y > 0) };
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

function lineOf({ provider, layout, dash, points }: Line, place: Place): string {
  const colour = colourOf(provider, layout);
  const spots = points.map(place);
  return line(spots, { colour, widthPx: 2.5, dash }) + spots.map((spot) => symbol(layout, spot, colour)).join('');
}

/** Half of the width of a bar's caps. */
const CAP_PX = 5;

/** A bar from low to high through each point, with caps. */
function intervalsOf({ provider, layout, points }: Line, place: Place): string {
  const stroke = { colour: colourOf(provider, layout), widthPx: 1.5 };
  return points
    .flatMap(({ x, interval }) => {
      if (interval === undefined || interval[0] <= 0 || interval[0] === interval[1]) return [];
      const ends = interval.map((y) => place({ x, y }));
      const caps = ends.flatMap((end) => [undefined, { x: end.x - CAP_PX, y: end.y }, { x: end.x + CAP_PX, y: end.y }]);
      return line([...ends, ...caps], stroke);
    })
    .join('');
}

function labelsOf(lines: readonly Line[], place: Place): string {
  const points = lines.flatMap((one) => one.points);
  return labels(points.map((point) => ({ text: point.label ?? '', spot: place(point) })));
}
