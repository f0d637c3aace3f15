// What an experiment gives: a chapter of tables with the figures of then beside those of now, as plain data that goes into JSON unchanged.

/** The five documents, A to E. */
export const EXPERIMENT_IDS = ['a', 'b', 'c', 'd', 'e'] as const;

export type ExperimentId = (typeof EXPERIMENT_IDS)[number];

/** `then`: printed in the document. `now`: measured in this run. `model`: calculated from a model of a cloud, never measured. */
export type Era = 'then' | 'now' | 'model';

/**
 * One figure. `runs` holds each run in the column's unit, one if only one is known. `failed` is the message of what went wrong: the row stays
 * and the rest goes on. `missing` says why there is none: not printed, no counterpart, interrupted.
 */
export type Figure =
  { readonly runs: readonly [number, ...number[]] } | { readonly failed: string } | { readonly missing: string };

export interface Column {
  /** Unique in its table; the key of a row's figures. */
  readonly id: string;
  readonly era: Era;
  /** What is measured, like `encode`. Columns of one measure stand beside each other and share a chart. */
  readonly measure: string;
  /** Where: `App Engine, 2008`, `Azurite`, `embedded Datastore emulator`. */
  readonly where: string;
  /** `s`, `ms`, `bytes`, `entities/s`, `dollars`; equal units are not needed beside each other, as ratios are compared. */
  readonly unit: string;
  readonly better: 'lower' | 'higher';
}

export interface Row {
  /** Unique in its table. */
  readonly id: string;
  /** The variant as the document prints it, or its name of today if the document has none. */
  readonly name: string;
  /** What was measured now in its place, where that is another thing: `YAML (yaml 2.8.1)` for pyYAML. */
  readonly standIn?: string;
  /** Id of the row that its ratios are against, column by column; a baseline's own is itself. */
  readonly against: string;
  /** By column id. A column that is left out is missing for this row. */
  readonly figures: Readonly<Record<string, Figure>>;
  /** Short remarks that stand with the row, like `NO_EFFECT_ON_LOOPBACK`. */
  readonly marks?: readonly string[];
}

/** A table of figures, with a chart of ratios for each measure that has one to show. */
export interface FigureTable {
  /** Unique in its chapter. */
  readonly id: string;
  readonly title: string;
  /** What was done, in a sentence or two; what one unit of the figures is. */
  readonly about: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** The measures that get a chart; default all. */
  readonly charted?: readonly string[];
  /** What stands under the table; whole sentences. */
  readonly notes?: readonly string[];
}

/** A table of words, for what is no figure: whether a value comes back the same. */
export interface WordTable {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** Titles of the columns after the first, which is the row's name. */
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

/** Where the figures of then were printed. */
export interface Source {
  readonly title: string;
  readonly year: number;
  readonly platform: string;
}

/**
 * What the figures say about something that the document said. The verdict and the words follow from the figures of this run. `open`: this
 * run cannot tell, and the text says why.
 */
export interface Finding {
  readonly verdict: 'holds' | 'does not hold' | 'open';
  /** Whole sentences with the figures they rest on. */
  readonly text: string;
}

export interface Chapter {
  readonly id: ExperimentId;
  readonly title: string;
  /** The question it asks, ending in a question mark. */
  readonly question: string;
  readonly source: Source;
  readonly tables: readonly FigureTable[];
  readonly wordTables: readonly WordTable[];
  /** What an emulator on one machine cannot show of this question; whole sentences. */
  readonly cannotShow: readonly string[];
  /** In the order of the paragraph that they make. */
  readonly findings: readonly Finding[];
}

/** What became of one experiment. */
export interface ChapterResult {
  readonly id: ExperimentId;
  readonly title: string;
  readonly question: string;
  readonly durationMs: number;
  /** Null if it failed as a whole. */
  readonly chapter: Chapter | null;
  /** Why there is no chapter. */
  readonly failure: string | null;
  /** What ended it early, so that figures may be missing; null if it ran to its end. */
  readonly endedBy: string | null;
}

export const NO_EFFECT_ON_LOOPBACK = 'no effect expected on loopback';
export const NOT_PRINTED = 'not printed';
export const NO_COUNTERPART = 'no counterpart';

/** The runs as a figure; `missing` with `why` where there are none. */
export function figureOf(runs: readonly number[], why: string = NOT_PRINTED): Figure {
  const [first, ...others] = runs;
  return first === undefined ? { missing: why } : { runs: [first, ...others] };
}

/** Mean of the runs, as the documents give it; undefined where nothing was measured. */
export function meanOf(figure: Figure | undefined): number | undefined {
  if (figure === undefined || !('runs' in figure)) return undefined;
  return figure.runs.reduce((sum, run) => sum + run, 0) / figure.runs.length;
}

/** The row's mean over its baseline's in the same column; undefined where either is missing or the baseline is 0. */
export function ratioOf(table: FigureTable, rowId: string, columnId: string): number | undefined {
  const row = table.rows.find(({ id }) => id === rowId);
  const baseline = table.rows.find(({ id }) => id === row?.against);
  const own = meanOf(row?.figures[columnId]);
  const base = meanOf(baseline?.figures[columnId]);
  return own === undefined || base === undefined || base === 0 ? undefined : own / base;
}

/** What went wrong in the chapter, a line each; empty if everything was measured. What fails fails in all of its columns: one line says so. */
export function problemsOf({ chapter, failure, endedBy }: ChapterResult): string[] {
  const early = [failure, endedBy === null ? null : `ended early: ${endedBy}`].filter((line) => line !== null);
  const failed = (chapter?.tables ?? []).flatMap((table) =>
    table.rows.flatMap((row) =>
      table.columns.flatMap(({ id, where }) => {
        const figure = row.figures[id];
        return figure !== undefined && 'failed' in figure ? [`${row.name}, ${where}: ${figure.failed}`] : [];
      }),
    ),
  );
  return [...early, ...new Set(failed)];
}
