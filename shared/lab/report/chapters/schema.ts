// A report of chapters, as data, as the experiments and the benchmark make one.
import * as z from 'zod';
import { median, sum } from '../../kit/numbers.ts';
import { circumstancesSchema } from '../schema.ts';

/** Raised when a field changes its meaning or goes; a new field does not raise it. */
const CHAPTERS_SCHEMA_VERSION = 4;

const list = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).readonly();
const object = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).readonly();

/** Each run in the column's unit, or why there is none. */
const figureSchema = z.union([
  object({ runs: z.tuple([z.number()], z.number()).readonly() }),
  object({ failed: z.string() }),
  object({ missing: z.string() }),
]);

const columnSchema = object({
  /** Unique in its table; the key of a row's figures. */
  id: z.string(),
  /** `then`: printed in a document. `now`: measured in this run. */
  era: z.enum(['then', 'now']),
  /** Columns of one measure stand beside each other. */
  measure: z.string(),
  /** `App Engine, 2008`, `Azurite`. */
  where: z.string(),
  /** Units may differ beside each other: ratios are compared. */
  unit: z.string(),
  better: z.enum(['lower', 'higher']),
});

const rowSchema = object({
  /** Unique in its table. */
  id: z.string(),
  /** The variant as the document prints it, or its name of today. */
  name: z.string(),
  /** The variant that was measured now in its place. */
  standIn: z.string().optional(),
  /** Id of the row that its ratios are against, column by column; a baseline names itself. */
  against: z.string(),
  /** By column id; a column that is left out is missing. */
  figures: z.record(z.string(), figureSchema).readonly(),
  /** Short remarks. */
  marks: list(z.string()).optional(),
});

const tableSchema = object({
  /** Unique in its chapter. */
  id: z.string(),
  title: z.string(),
  /** The work that was done. */
  about: z.string(),
  columns: list(columnSchema),
  rows: list(rowSchema),
  /** The middle run counts, as one may be disturbed. Default: the mean, as in documents. */
  hasMedians: z.boolean().optional(),
});

/** Words are too long for a terminal: such a table stands on the page alone. */
const wordTableSchema = object({
  title: z.string(),
  about: z.string(),
  /** Titles of the columns after the first, which is the row's name. */
  columns: list(z.string()),
  rows: list(object({ name: z.string(), cells: list(z.string()) })),
});

/** A saying or a goal, and the figures of this run that speak for or against it. */
const findingSchema = object({
  /** `open`: this run cannot tell. */
  verdict: z.enum(['holds', 'does not hold', 'open']),
  text: z.string(),
});

const chapterSchema = object({
  tables: list(tableSchema),
  wordTables: list(wordTableSchema),
  /** Sentences: the limits of an emulator on one machine. */
  cannotShow: list(z.string()),
  findings: list(findingSchema),
});

const resultSchema = object({
  /** A letter or a word, unique in the report. */
  id: z.string(),
  title: z.string(),
  question: z.string(),
  /** The source of the figures of then; null where there are none. */
  source: object({ title: z.string(), year: z.int(), platform: z.string() }).nullable(),
  /** Null if it failed as a whole. */
  chapter: chapterSchema.nullable(),
  /** Why there is no chapter. */
  failure: z.string().nullable(),
});

export const chaptersSchema = z.strictObject({
  schemaVersion: z.literal(CHAPTERS_SCHEMA_VERSION),
  title: z.string(),
  /** Sentences for the top. */
  lead: list(z.string()),
  ran: circumstancesSchema.pick({ startedAt: true, durationMs: true, coordinator: true, versions: true }),
  /** The signal, like Ctrl-C, that ended the whole run early. */
  endedEarly: z.string().nullable(),
  /** Results of the experiments that were begun. */
  results: list(resultSchema),
  /** Sentences for the end: how to read it. */
  notes: list(z.string()),
});

export type Figure = z.infer<typeof figureSchema>;
export type Column = z.infer<typeof columnSchema>;
export type Row = z.infer<typeof rowSchema>;
export type FigureTable = z.infer<typeof tableSchema>;
export type WordTable = z.infer<typeof wordTableSchema>;
export type Finding = z.infer<typeof findingSchema>;
export type Chapter = z.infer<typeof chapterSchema>;
export type Result = z.infer<typeof resultSchema>;
export type ChaptersReport = z.infer<typeof chaptersSchema>;

/** Throws if it breaks the schema. */
export function chaptersReport(facts: Omit<ChaptersReport, 'schemaVersion'>): ChaptersReport {
  return chaptersSchema.parse({ schemaVersion: CHAPTERS_SCHEMA_VERSION, ...facts });
}

/** Whether everything was begun, and nothing failed. */
export function isWhole({ endedEarly, results }: Pick<ChaptersReport, 'endedEarly' | 'results'>): boolean {
  return endedEarly === null && results.every((result) => problemsOf(result).length === 0);
}

/** A line for each failure; one for a row that fails alike in several columns. */
export function problemsOf({ chapter, failure }: Pick<Result, 'chapter' | 'failure'>): string[] {
  const failed = (chapter?.tables ?? []).flatMap(({ rows, columns }) =>
    rows.flatMap(({ name, figures }) =>
      columns.flatMap(({ id, where }) => {
        const figure = figures[id];
        return figure !== undefined && 'failed' in figure ? [`${name}, ${where}: ${figure.failed}`] : [];
      }),
    ),
  );
  return [...(failure === null ? [] : [failure]), ...new Set(failed)];
}

/** The runs as a figure; `missing` with `why` where there are none. */
export function figureOf(runs: readonly number[], why = 'not printed'): Figure {
  const [first, ...others] = runs;
  return first === undefined ? { missing: why } : { runs: [first, ...others] };
}

/** Undefined where nothing was measured. */
export function meanOf(figure: Figure | undefined): number | undefined {
  return typicalOf({}, figure);
}

/** The mean of the runs, or the median where the table has medians; undefined without runs. */
export function typicalOf(
  { hasMedians = false }: Pick<FigureTable, 'hasMedians'>,
  figure: Figure | undefined,
): number | undefined {
  if (figure === undefined || !('runs' in figure)) return undefined;
  return hasMedians ? median(figure.runs) : sum(figure.runs) / figure.runs.length;
}

/** The row's figure over its baseline's in the same column; undefined where there is none. */
export function ratioOf(
  table: Pick<FigureTable, 'rows' | 'hasMedians'>,
  rowId: string,
  columnId: string,
): number | undefined {
  const row = table.rows.find(({ id }) => id === rowId);
  const baseline = table.rows.find(({ id }) => id === row?.against);
  const [own, base] = [row, baseline].map((one) => typicalOf(table, one?.figures[columnId]));
  return own === undefined || base === undefined || base === 0 ? undefined : own / base;
}
