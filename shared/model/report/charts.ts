// Charts of a plan's groups: a figure against what differs between the rows, a panel for each provider on one scale, a line for each layout.
import type { Provider } from '../../compare/dimensions.ts';
import { panelsOf, type Shape } from '../../compare/report/chart-panels.ts';
import {
  axis,
  decades,
  LABEL,
  logAxis,
  panelTitles,
  svg,
  SYMBOLS,
  valueText,
} from '../../compare/report/chart-parts.ts';
import { colourOf, PROVIDER_NAMES } from '../../compare/report/names.ts';
import type { ModelReportCell } from './schema.ts';
import { MODEL_LAYOUTS } from '../work/dimensions.ts';

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
  const names = providers.map((provider) => PROVIDER_NAMES[provider]);
  const sizes = { headPx: 44, heightPx: 200, footPx: 50, labelsPx: 48, rightPx: 30 };
  const { panels, heightPx } = panelsOf(names.length, shape, sizes);
  const [min, max] = decades(cells.flatMap((cell) => figures.map(({ of }) => of(cell) ?? 0)));
  const places = [...new Set(cells.map(({ model }) => model.at))].toSorted((a, b) => a - b);
  const layouts = MODEL_LAYOUTS.filter((layout) => cells.some((cell) => cell.layout === layout));
  return svg(shape.widthPx, heightPx, {
    title: panelTitles(names, panels),
    grid: panels,
    xAxis: providers.map((_, at) => ({
      ...axis('category', at),
      data: places.map(placeText),
      name: AXIS_NAMES[cells[0]!.model.across] ?? '',
      nameLocation: 'middle' as const,
      nameGap: 26,
    })),
    yAxis: providers.map((_, at) => logAxis(at, min, max)),
    series: providers.flatMap((provider, panel) =>
      layouts.flatMap((layout) =>
        figures.map(({ of, lineType = 'solid', isLabelled = true }) => ({
          type: 'line' as const,
          silent: true,
          xAxisIndex: panel,
          yAxisIndex: panel,
          symbol: SYMBOLS[layout],
          symbolSize: 8,
          color: colourOf(provider, layout),
          lineStyle: { width: 2.5, type: lineType },
          labelLayout: { hideOverlap: true },
          label: { ...LABEL, show: isLabelled, formatter: valueText },
          data: places.map((place) => {
            const isIt = (cell: ModelReportCell): boolean =>
              cell.provider === provider && cell.layout === layout && cell.model.at === place;
            const cell = cells.find(isIt);
            const value = cell === undefined ? null : of(cell);
            // A logarithmic axis has no place for nothing.
            return value === null || value <= 0 ? '-' : value;
          }),
        })),
      ),
    ),
  });
}

function placeText(place: number): string {
  if (place >= 1_000_000_000) return `${place / 1_000_000_000}G`;
  if (place >= 1_000_000) return `${place / 1_000_000}M`;
  return place >= 10_000 ? `${place / 1_000}k` : String(place);
}
