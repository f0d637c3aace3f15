// Throughput over time as lines: thin ones for the runs, a thick one for their median, and the warm-up on a ground of its own. Pure SVG text.
import { axes, FAINT, line, rect, type Spot, svg, symbol, text } from './chart-parts.ts';
import { type Panel, panelsOf, type Shape } from './chart-panels.ts';
import { decades, linearScale, logScale } from './chart-scales.ts';
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
