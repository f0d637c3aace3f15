// What an experiment gives: a chapter of tables with the figures of then beside those of now, as data that goes into JSON unchanged. The schema is the one
// source: types are inferred from it, and every report is checked against it before it is written. report/SCHEMA.md describes it for readers of the file.
import * as z from 'zod';
import { circumstancesSchema, pricesSchema } from '../../../shared/lab/report/schema.ts';

/** Raised when a field changes its meaning or goes; a new field does not raise it. */
const EXPERIMENTS_SCHEMA_VERSION = 2;

const list = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).readonly();

/** One figure: each run in the column's unit, or what went wrong, or why there is none (not printed, no counterpart, interrupted). */
const figureSchema = z.union([
  z.strictObject({ runs: z.tuple([z.number()], z.number()).readonly() }).readonly(),
  z.strictObject({ failed: z.string() }).readonly(),
  z.strictObject({ missing: z.string() }).readonly(),
]);

export type Figure = z.infer<typeof figureSchema>;

const columnSchema = z
  .strictObject({
    /** Unique in its table; the key of a row's figures. */
    id: z.string(),
    /** `then`: printed in the document. `now`: measured in this run. `model`: calculated from a model of a cloud, never measured. */
    era: z.enum(['then', 'now', 'model']),
    /** What is measured. Columns of one measure stand beside each other. */
    measure: z.string(),
    /** `App Engine, 2008`, `Azurite`. */
    where: z.string(),
    /** Equal units are not needed beside each other, as ratios are compared. */
    unit: z.string(),
    better: z.enum(['lower', 'higher']),
  })
  .readonly();

export type Column = z.infer<typeof columnSchema>;

const rowSchema = z
  .strictObject({
    /** Unique in its table. */
    id: z.string(),
    /** The variant as the document prints it, or its name of today. */
    name: z.string(),
    /** What was measured now in its place, where that is another thing. */
    standIn: z.string().optional(),
    /** Id of the row that its ratios are against, column by column; a baseline's own is itself. */
    against: z.string(),
    /** By column id; a column that is left out is missing. */
    figures: z.record(z.string(), figureSchema).readonly(),
    /** Short remarks. */
    marks: list(z.string()).optional(),
  })
  .readonly();

export type Row = z.infer<typeof rowSchema>;

const tableSchema = z
  .strictObject({
    /** Unique in its chapter. */
    id: z.string(),
    title: z.string(),
    /** What was done. */
    about: z.string(),
    columns: list(columnSchema),
    rows: list(rowSchema),
    /** Sentences that stand under the table. */
    notes: list(z.string()).optional(),
  })
  .readonly();

export type FigureTable = z.infer<typeof tableSchema>;

/** A table of words, for what is no figure: whether a value comes back the same. */
const wordTableSchema = z
  .strictObject({
    title: z.string(),
    about: z.string(),
    /** Titles of the columns after the first, which is the row's name. */
    columns: list(z.string()),
    rows: list(z.strictObject({ name: z.string(), cells: list(z.string()) }).readonly()),
  })
  .readonly();

export type WordTable = z.infer<typeof wordTableSchema>;

/** Something that the document said, and the figures of this run that speak for or against it. `open`: this run cannot tell. */
const findingSchema = z
  .strictObject({ verdict: z.enum(['holds', 'does not hold', 'open']), text: z.string() })
  .readonly();

export type Finding = z.infer<typeof findingSchema>;

const chapterSchema = z
  .strictObject({
    tables: list(tableSchema),
    wordTables: list(wordTableSchema),
    /** Sentences: what an emulator on one machine cannot show. */
    cannotShow: list(z.string()),
    findings: list(findingSchema),
  })
  .readonly();

export type Chapter = z.infer<typeof chapterSchema>;

/** What became of one experiment. */
const resultSchema = z
  .strictObject({
    /** The document's letter. */
    id: z.enum(['a', 'b', 'c', 'd', 'e']),
    title: z.string(),
    /** Ends in a question mark. */
    question: z.string(),
    /** Where the figures of then were printed. */
    source: z.strictObject({ title: z.string(), year: z.int(), platform: z.string() }).readonly(),
    durationMs: z.number().min(0),
    /** Null if it failed as a whole. */
    chapter: chapterSchema.nullable(),
    /** Why there is no chapter. */
    failure: z.string().nullable(),
  })
  .readonly();

export type Result = z.infer<typeof resultSchema>;

export const experimentsSchema = z.strictObject({
  schemaVersion: z.literal(EXPERIMENTS_SCHEMA_VERSION),
  ...circumstancesSchema.pick({ startedAt: true, durationMs: true, coordinator: true, versions: true }).shape,
  prices: pricesSchema,
  /** What ended the whole run early, like Ctrl-C; null if nothing did. */
  endedEarly: z.string().nullable(),
  /** Of the experiments that were begun. */
  results: list(resultSchema),
});

export type ExperimentsReport = z.infer<typeof experimentsSchema>;

/** Throws if it breaks the schema. */
export function reportOf(facts: Omit<ExperimentsReport, 'schemaVersion'>): ExperimentsReport {
  return experimentsSchema.parse({ schemaVersion: EXPERIMENTS_SCHEMA_VERSION, ...facts });
}

/** Whether everything was begun, and nothing failed. */
export function isWhole({ endedEarly, results }: ExperimentsReport): boolean {
  return endedEarly === null && results.every((result) => problemsOf(result).length === 0);
}

/** What went wrong in it, a line each. What fails alike in several columns of a row is one line. */
export function problemsOf({ chapter, failure }: Result): string[] {
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

const NOT_PRINTED = 'not printed';

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
export function ratioOf({ rows }: Pick<FigureTable, 'rows'>, rowId: string, columnId: string): number | undefined {
  const row = rows.find(({ id }) => id === rowId);
  const own = meanOf(row?.figures[columnId]);
  const base = meanOf(rows.find(({ id }) => id === row?.against)?.figures[columnId]);
  return own === undefined || base === undefined || base === 0 ? undefined : own / base;
}
