// Where the panels of a chart lie: beside each other on a page, one below the other on a phone. All lengths in CSS pixels.

/** What a chart is drawn for. */
export interface Shape {
  readonly name: 'wide' | 'narrow';
  readonly widthPx: number;
}

/** `wide` fits a tablet and paper at its own size, `narrow` a phone of 390: text keeps its size in both. */
export const SHAPES: readonly Shape[] = [
  { name: 'wide', widthPx: 720 },
  { name: 'narrow', widthPx: 340 },
];

export interface PanelSizes {
  /** Above the panel, for its title. */
  readonly headPx: number;
  readonly heightPx: number;
  /** Below it, for its axis. */
  readonly footPx: number;
  /** To its left, for the labels of its axis. */
  readonly labelsPx: number;
  /** To its right. */
  readonly rightPx: number;
  /** Panels side by side have the same labels: only the first one shows them. */
  readonly areLabelsShared?: boolean;
}

export interface Panel {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly titleTop: number;
  readonly hasLabels: boolean;
}

/** Space between panels whose labels are shown once. */
const GAP_PX = 8;

/** Panels in order, and the height of all of them. */
export function panelsOf(count: number, shape: Shape, sizes: PanelSizes): { panels: Panel[]; heightPx: number } {
  const { headPx, heightPx, footPx } = sizes;
  const rowPx = headPx + heightPx + footPx;
  const isStacked = shape.name === 'narrow';
  const panels = Array.from({ length: count }, (_, at): Panel => {
    const titleTop = isStacked ? at * rowPx : 0;
    const across = isStacked ? { ...columns(1, shape, sizes)[0]!, hasLabels: true } : columns(count, shape, sizes)[at]!;
    return { ...across, top: titleTop + headPx, height: heightPx, titleTop };
  });
  return { panels, heightPx: isStacked ? count * rowPx : rowPx };
}

function columns(count: number, { widthPx }: Shape, { labelsPx, rightPx, areLabelsShared = false }: PanelSizes) {
  const labels = Array.from({ length: count }, (_, at) => (areLabelsShared && at > 0 ? GAP_PX : labelsPx));
  const width = (widthPx - labels.reduce((sum, one) => sum + one, 0) - count * rightPx) / count;
  let right = 0;
  return labels.map((label, at) => {
    const left = right + label;
    right = left + width + rightPx;
    return { left, width, hasLabels: !areLabelsShared || at === 0 };
  });
}
