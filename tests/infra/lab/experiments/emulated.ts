// The context of an experiment in tests: both emulators in this process, or ones that cannot start.
import { afterAll, expect, test } from 'vitest';
import { startAzurite } from '../../../../infra/emulators/azurite.ts';
import { startEmbeddedDatastore } from '../../../../infra/emulators/embedded.ts';
import { providerOn } from '../../../../infra/lab/providers.ts';
import type { Experiment, ExperimentContext } from '../../../../infra/lab/experiments/experiment.ts';
import type { Chapter, Figure } from '../../../../shared/lab/report/chapters/schema.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';

export type Emulated = Awaited<ReturnType<typeof startEmulated>>;

export async function startEmulated() {
  const providers = {
    datastore: providerOn('datastore', await startEmbeddedDatastore({ inProcess: true })),
    'azure-tables': providerOn('azure-tables', await startAzurite({ inProcess: true })),
  };
  return {
    /** With `broken`, that provider's emulator does not start. */
    context: (signal = new AbortController().signal, broken?: Provider): ExperimentContext => ({
      ...contextAlone(signal),
      emulator: async (provider) => {
        if (provider === broken) throw new Error(`${provider} does not start`);
        return providers[provider];
      },
    }),
    close: async () => void (await Promise.all(Object.values(providers).map((provider) => provider.close()))),
  };
}

/** Runs it on emulators that stop after the file, and tests that its tables are whole. */
export async function chapterOf(experiment: Experiment): Promise<{ chapter: Chapter; emulated: Emulated }> {
  const emulated = await startEmulated();
  afterAll(() => emulated.close());
  const chapter = await experiment.run(emulated.context());
  test('the tables are whole, and nothing failed', () => {
    expect([structureErrors(chapter), failuresOf(chapter)]).toEqual([[], []]);
  });
  return { chapter, emulated };
}

/** No emulator starts. */
export function contextAlone(signal = new AbortController().signal): ExperimentContext {
  return { signal, log: () => {}, emulator: () => Promise.reject(new Error('no emulator here')) };
}

/** The figure of a table, row and column, which must be there. */
export function figureAt(chapter: Chapter, table: string, row: string, column: string): Figure {
  const found = chapter.tables.find(({ id }) => id === table)?.rows.find(({ id }) => id === row)?.figures[column];
  if (found === undefined) throw new Error(`no figure in ${table}, ${row}, ${column}`);
  return found;
}

/** The only run of a figure. */
export function numberAt(chapter: Chapter, table: string, row: string, column: string): number {
  const figure = figureAt(chapter, table, row, column);
  if (!('runs' in figure) || figure.runs.length !== 1)
    throw new Error(`not one number in ${table}, ${row}, ${column}: ${JSON.stringify(figure)}`);
  return figure.runs[0];
}

/** Every row's baseline and every figure's column exist, and ids are there once. */
export function structureErrors({ tables }: Chapter): string[] {
  const errors: string[] = [];
  if (new Set(tables.map(({ id }) => id)).size !== tables.length) errors.push('a table is there twice');
  for (const { id, columns, rows } of tables) {
    const rowIds = new Set(rows.map((row) => row.id));
    const columnIds = new Set(columns.map((column) => column.id));
    if (rowIds.size !== rows.length || columnIds.size !== columns.length) errors.push(`${id}: an id is there twice`);
    for (const row of rows) {
      if (!rowIds.has(row.against)) errors.push(`${id}, ${row.id}: no baseline ${row.against}`);
      for (const column of Object.keys(row.figures))
        if (!columnIds.has(column)) errors.push(`${id}, ${row.id}: no column ${column}`);
    }
  }
  return errors;
}

/** Messages of all figures that failed. */
function failuresOf({ tables }: Chapter): string[] {
  const figures = tables.flatMap(({ rows }) => rows.flatMap((row) => Object.values(row.figures)));
  return figures.flatMap((figure) => ('failed' in figure ? [figure.failed] : []));
}
