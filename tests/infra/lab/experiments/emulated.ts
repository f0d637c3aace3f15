// What an experiment is given in tests: both emulators in this process, started anew for each file, or ones that cannot start.
import { AzureNamedKeyCredential } from '@azure/data-tables';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../../../infra/emulators/azurite.ts';
import { startEmbeddedDatastore } from '../../../../infra/emulators/embedded.ts';
import type { BenchProvider } from '../../../../infra/lab/bench/providers.ts';
import type { ExperimentContext } from '../../../../infra/lab/experiments/experiment.ts';
import type { ModelledDocument } from '../../../../infra/lab/experiments/modelled.ts';
import type { Chapter, Figure } from '../../../../infra/lab/experiments/results.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import { azureTablesDriver } from '../../../../shared/drivers/azure-tables.ts';
import { datastoreDriver } from '../../../../shared/drivers/datastore.ts';
import type { Driver } from '../../../../shared/store/index.ts';

// Google's libraries look for the metadata server of a cloud machine unless told not to.
process.env['METADATA_SERVER_DETECTION'] ??= 'none';

export interface Emulated {
  readonly endpoints: Readonly<Record<Provider, string>>;
  /** With `broken`, that provider's emulator does not start. */
  context(signal?: AbortSignal, broken?: Provider): ExperimentContext;
  close(): Promise<void>;
}

/** What the model plays, so often: enough for figures that differ. */
export function inRuns(runs: number, documents: readonly ModelledDocument[]): ModelledDocument[] {
  return documents.map((document) => ({ ...document, runs }));
}

export async function startEmulated(): Promise<Emulated> {
  const datastore = await startEmbeddedDatastore({ inProcess: true });
  const azure = await startAzurite({ inProcess: true });
  const endpoints = { datastore: datastore.endpoint, 'azure-tables': azure.endpoint };
  const drivers: Readonly<Record<Provider, (space: string) => Driver>> = {
    datastore: (namespace) => datastoreDriver({ projectId: 'tests', endpoint: endpoints.datastore, namespace }),
    'azure-tables': (tableName) =>
      azureTablesDriver({
        endpoint: endpoints['azure-tables'],
        tableName,
        credential: new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY),
      }),
  };
  return {
    endpoints,
    context: (signal = new AbortController().signal, broken) => ({
      signal,
      log: () => {},
      emulator: async (provider) => {
        if (provider === broken) throw new Error(`${provider} does not start`);
        return bench(provider, endpoints[provider], drivers[provider]);
      },
    }),
    async close() {
      await datastore.close();
      await azure.close();
    },
  };
}

function bench(provider: Provider, endpoint: string, driver: (space: string) => Driver): BenchProvider {
  return {
    provider,
    backend: `${provider} emulated`,
    endpoint,
    driver,
    baseline: unused,
    store: unused,
    close: async () => {},
  };
}

function unused(): never {
  throw new Error('the experiments do not use this');
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
  for (const { id, columns, rows, charted } of tables) {
    const rowIds = new Set(rows.map((row) => row.id));
    const columnIds = new Set(columns.map((column) => column.id));
    if (rowIds.size !== rows.length || columnIds.size !== columns.length) errors.push(`${id}: an id is there twice`);
    for (const measure of charted ?? [])
      if (!columns.some((column) => column.measure === measure)) errors.push(`${id}: no measure ${measure}`);
    for (const row of rows) {
      if (!rowIds.has(row.against)) errors.push(`${id}, ${row.id}: no baseline ${row.against}`);
      for (const column of Object.keys(row.figures))
        if (!columnIds.has(column)) errors.push(`${id}, ${row.id}: no column ${column}`);
    }
  }
  return errors;
}

/** Messages of all figures that failed. */
export function failuresOf({ tables }: Chapter): string[] {
  return tables.flatMap(({ rows }) =>
    rows.flatMap(({ figures }) =>
      Object.values(figures).flatMap((figure) => ('failed' in figure ? [figure.failed] : [])),
    ),
  );
}
