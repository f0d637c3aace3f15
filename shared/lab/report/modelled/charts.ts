// Charts of a plan's groups: a figure against what differs between the rows, a panel for each provider on one scale, a line for each layout.
import { MODEL_LAYOUTS, type Provider } from '../../kit/dimensions.ts';
import { short } from '../../kit/format.ts';
import { axes, decades, labels, line, logScale, panelsOf, type Shape, type Spot, svg, symbol } from '../chart-parts.ts';
import { colourOf, PROVIDER_NAMES } from '../names.ts';
import type { ModelReportCell } from './report.ts';

/** What the axis of a group's charts is called. */
const AXIS_NAMES: Readonly<Record<string, string>> = {
  callers: 'callers in flight',
  instances: 'instances',
  containerKib: 'largest container, KiB',
  records: 'records in the table',
  arrivals: 'arrivals a second',
};

/** One line: which figure of a cell, drawn how. */
export interface Figure {
  readonly of: (cell: ModelReportCell) => number | null;
  readonly lineType?: 'solid' | 'dashed';
  /** Whether its points have their figures beside them. */
  readonly isLabelled?: boolean;
}

export interface GroupChart {
  /** Of one group, of all providers. */
  readonly cells: readonly ModelReportCell[];
  readonly providers: readonly Provider[];
  readonly figures: readonly Figure[];
}

export function groupChart({ cells, providers, figures }: GroupChart, shape: Shape): string {
  const sizes = { headPx: 44, heightPx: 200, footPx: 50, labelsPx: 48, rightPx: 30 };
  const { panels, heightPx } = panelsOf(providers.length, shape, sizes);
  const range = decades(cells.flatMap((cell) => figures.map(({ of }) => of(cell) ?? 0)));
  const places = [...new Set(cells.map((cell) => cell.at))].toSorted((a, b) => a - b);
  const drawn = providers.map((provider, at) => {
    const panel = panels[at]!;
    const stepPx = panel.width / places.length;
    const x = { ticks: places, at: (place: number) => panel.left + (places.indexOf(place) + 0.5) * stepPx };
    const y = logScale(range, [panel.top + panel.height, panel.top], 10);
    const name = AXIS_NAMES[cells[0]!.across] ?? '';
    const own = cells.filter(({ cell }) => cell.provider === provider);
    return (
      axes(panel, { title: PROVIDER_NAMES[provider], x: { ...x, name, text: placeText, isPlain: true }, y }) +
      linesOf(own, figures, (cell, value) => ({ x: x.at(cell.at), y: y.at(value) }))
    );
  });
  return svg(shape.widthPx, heightPx, drawn.join(''));
}

type Place = (cell: ModelReportCell, value: number) => Spot;

/** A line for each layout and figure, and the labels of all of them. */
function linesOf(cells: readonly ModelReportCell[], figures: readonly Figure[], place: Place): string {
  const lines = MODEL_LAYOUTS.flatMap((layout) =>
    figures.map(({ of, lineType = 'solid', isLabelled = true }) => {
      const own = cells.filter(({ cell }) => cell.layout === layout).toSorted((a, b) => a.at - b.at);
      const points = own.map((cell) => {
        const value = of(cell);
        // A logarithmic axis has no place for nothing.
        return value === null || value <= 0 ? undefined : { value, spot: place(cell, value) };
      });
      return { layout, lineType, isLabelled, points };
    }),
  );
  const marks = lines.map(({ layout, lineType, points }) => {
    const colour = colourOf(cells[0]?.cell.provider ?? 'datastore', layout);
    const symbols = points.map((point) => (point === undefined ? '' : symbol(layout, point.spot, colour)));
    return (
      line(
        points.map((point) => point?.spot),
        { colour, widthPx: 2.5, dash: lineType },
      ) + symbols.join('')
    );
  });
  const figuresBeside = lines.flatMap(({ isLabelled, points }) =>
    points.flatMap((point) =>
      point === undefined || !isLabelled ? [] : { text: short(point.value), spot: point.spot },
    ),
  );
  return marks.join('') + labels(figuresBeside);
}

function placeText(place: number): string {
  if (place >= 1_000_000_000) return `${place / 1_000_000_000}G`;
  if (place >= 1_000_000) return `${place / 1_000_000}M`;
  return place >= 10_000 ? `${place / 1_000}k` : String(place);
}
