// The report of the experiments as data: what `report/experiments.json` holds, checked before it is written. SCHEMA.md describes it for
// readers in other languages.
import * as z from 'zod';
import { type ChapterResult, EXPERIMENT_IDS, type FigureTable, problemsOf, ratioOf } from '../results.ts';

/** Raised when a field changes its meaning or goes; a new field does not raise it. */
const EXPERIMENTS_SCHEMA_VERSION = 1;

const figureSchema = z.union([
  z.strictObject({ runs: z.tuple([z.number()], z.number()).readonly() }),
  z.strictObject({ failed: z.string() }),
  z.strictObject({ missing: z.string() }),
]);

const tableSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  about: z.string(),
  columns: z.array(
    z.strictObject({
      id: z.string(),
      era: z.enum(['then', 'now', 'model']),
      measure: z.string(),
      where: z.string(),
      unit: z.string(),
      better: z.enum(['lower', 'higher']),
    }),
  ),
  rows: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      standIn: z.string().optional(),
      against: z.string(),
      figures: z.record(z.string(), figureSchema),
      marks: z.array(z.string()).optional(),
      /** Column id -> the row's mean over that of the row `against`, where both are known. */
      ratios: z.record(z.string(), z.number()),
    }),
  ),
  charted: z.array(z.string()).optional(),
  notes: z.array(z.string()).optional(),
});

const chapterSchema = z.strictObject({
  id: z.enum(EXPERIMENT_IDS),
  title: z.string(),
  question: z.string(),
  source: z.strictObject({ title: z.string(), year: z.int(), platform: z.string() }),
  tables: z.array(tableSchema),
  wordTables: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      about: z.string(),
      columns: z.array(z.string()),
      rows: z.array(z.strictObject({ name: z.string(), cells: z.array(z.string()) })),
    }),
  ),
  cannotShow: z.array(z.string()),
  findings: z.array(z.strictObject({ verdict: z.enum(['holds', 'does not hold', 'open']), text: z.string() })),
});

export const experimentsSchema = z.strictObject({
  schemaVersion: z.literal(EXPERIMENTS_SCHEMA_VERSION),
  /** ISO 8601, UTC. */
  startedAt: z.iso.datetime(),
  durationMs: z.number().min(0),
  machine: z.strictObject({
    cpu: z.string(),
    cores: z.int().min(1),
    memoryBytes: z.number().min(0),
    platform: z.string(),
    node: z.string(),
  }),
  /** Package -> version. */
  versions: z.record(z.string(), z.string()),
  /** What ended the whole run early; null if nothing did. */
  endedBy: z.string().nullable(),
  results: z.array(
    z.strictObject({
      id: z.enum(EXPERIMENT_IDS),
      title: z.string(),
      question: z.string(),
      durationMs: z.number().min(0),
      chapter: chapterSchema.nullable(),
      failure: z.string().nullable(),
      endedBy: z.string().nullable(),
      problems: z.array(z.string()),
    }),
  ),
});

export type ExperimentsReport = z.infer<typeof experimentsSchema>;
export type ReportResult = ExperimentsReport['results'][number];
export type ReportTable = z.infer<typeof tableSchema>;
export type ReportChapter = z.infer<typeof chapterSchema>;

export type RunFacts = Pick<ExperimentsReport, 'startedAt' | 'durationMs' | 'machine' | 'versions' | 'endedBy'>;

/** The results with what follows from them, ratios and problems. Throws if they break the schema. */
export function reportOf(facts: RunFacts, results: readonly ChapterResult[]): ExperimentsReport {
  return experimentsSchema.parse({
    schemaVersion: EXPERIMENTS_SCHEMA_VERSION,
    ...facts,
    results: results.map((result) => ({
      ...result,
      chapter: result.chapter === null ? null : { ...result.chapter, tables: result.chapter.tables.map(withRatios) },
      problems: problemsOf(result),
    })),
  });
}

function withRatios(table: FigureTable): unknown {
  return {
    ...table,
    rows: table.rows.map((row) => ({
      ...row,
      ratios: Object.fromEntries(
        table.columns.flatMap(({ id }) => {
          const ratio = ratioOf(table, row.id, id);
          return ratio === undefined ? [] : [[id, ratio]];
        }),
      ),
    })),
  };
}

/** Whether everything was measured and nothing ended it early. */
export function isWhole({ endedBy, results }: ExperimentsReport): boolean {
  return endedBy === null && results.every(({ problems }) => problems.length === 0);
}
