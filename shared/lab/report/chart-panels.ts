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
}

export interface Panel {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Panels in order, and the height of all of them. */
export function panelsOf(count: number, shape: Shape, sizes: PanelSizes): { panels: Panel[]; heightPx: number } {
  const { headPx, heightPx, footPx, labelsPx, rightPx } = sizes;
  const rowPx = headPx + heightPx + footPx;
  const isStacked = shape.name === 'narrow';
  const columnPx = shape.widthPx / (isStacked ? 1 : count);
  const panels = Array.from({ length: count }, (_, at): Panel => ({
    left: (isStacked ? 0 : at * columnPx) + labelsPx,
    top: (isStacked ? at * rowPx : 0) + headPx,
    width: columnPx - labelsPx - rightPx,
    height: heightPx,
  }));
  return { panels, heightPx: isStacked ? count * rowPx : rowPx };
}
