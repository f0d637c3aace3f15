// What the model of the clouds says of document E, and what it does not.
import { documentE } from '../../../../../shared/lab/plan/modelled/documents.ts';
import { type ModelledDocument, type ModelledRow, modelNotes, RUNS } from '../../modelled.ts';
import { PUBLISHED } from '../../published/published.ts';
import { STORE_OPERATIONS, storeE } from './modelled-store.ts';
import { cellOf } from './operations.ts';

const NAMES = {
  write_single: 'single writes of',
  write_batch: 'batched write of',
  read_single: 'single reads of',
  read_batch: 'batched read of',
} as const;

const COUNTS = PUBLISHED.gae_operations_2011.records;

const STORE_ROWS = COUNTS.flatMap((records) =>
  STORE_OPERATIONS.map((operation): ModelledRow => {
    const row = cellOf(operation, records);
    return { name: row, row, suffix: 'ms' };
  }),
);

const ROWS = COUNTS.flatMap((records) =>
  (Object.keys(NAMES) as (keyof typeof NAMES)[])
    .filter((operation) => records > 1 || operation.endsWith('single'))
    .map((operation): ModelledRow => ({
      name: `${NAMES[operation]} ${records.toLocaleString('en-US')}`,
      row: cellOf(operation, records),
      suffix: 'ms',
    })),
);

/** The document's own provider comes first. */
export const PROVIDERS = ['datastore', 'azure-tables'] as const;

export const MODELLED_E: readonly ModelledDocument[] = [
  { play: documentE, rows: () => ROWS, providers: PROVIDERS, runs: RUNS.plain },
  { play: storeE, rows: () => STORE_ROWS, providers: PROVIDERS, runs: RUNS.store },
];

export const NOTES_E = modelNotes(
  'What weighs most on Datastore: getMany.perEntityMs (a guess), by which alone the batched read of 1,000 becomes 4 times as dear, commit.perEntityMs, commit.baseMs and get.baseMs (measured by others, few requests), batch.exponent (a guess). On Azure, all guesses: partition.burstSeconds, tail.factor, query.perEntityMs, transaction.perEntityMs, commit.baseMs. A batched write goes in commits of 500, on Azure in transactions of 100, eight at a time; a batched read on Azure is a query.',
  'the caches, batches of one record, processor time. The tables without such a column (prices, largest numbers, callers at a time) are not modelled here.',
);
