// What the model of the clouds says of document C, and what it does not.
import {
  documentC,
  type DocumentOptions,
  type DocumentRun,
} from '../../../../../shared/lab/plan/modelled/documents.ts';
import type { Table } from '../../../../../shared/store/index.ts';
import { onModelledStore } from '../../modelled-store.ts';
import { type ModelledDocument, type ModelledRow, modelNotes, RUNS } from '../../modelled.ts';
import type { TextRecord } from '../../plain-sdk/plain-sdk.ts';
import { putAll } from '../../text-table.ts';
import { textsOf } from '../../texts.ts';

const RECORDS = 10;
const SIZES = { big: 10_000, small: 1 } as const;

/** Virtual time is bounded otherwise. */
const NEVER = new AbortController().signal;

const ROWS = {
  'big-transaction': 'big, in a transaction',
  'big-single': 'big, one by one',
  'small-single': 'small, one by one',
  'small-transaction': 'small, in a transaction',
} as const;

/** On Azure a batch is a transaction. */
const BATCHES = { 'big-batch': 'big, in one batch', 'small-batch': 'small, in one batch' } as const;

const STORE_ROWS = ['store-big-single', 'store-small-single', 'store-big-batch', 'store-small-batch'];

/** The document's own provider comes first. */
export const PROVIDERS = ['datastore', 'azure-tables'] as const;

export const MODELLED_C: readonly ModelledDocument[] = [
  {
    play: documentC,
    rows: (provider) =>
      Object.entries(provider === 'datastore' ? { ...ROWS, ...BATCHES } : ROWS).map(([row, name]): ModelledRow => ({
        name,
        row,
        suffix: 's',
      })),
    providers: PROVIDERS,
    runs: RUNS.plain,
  },
  {
    play: storeC,
    rows: () => STORE_ROWS.map((row): ModelledRow => ({ name: row, row, suffix: 's' })),
    providers: PROVIDERS,
    runs: RUNS.store,
  },
];

type Write = (table: Table<string>, records: readonly TextRecord[]) => Promise<void>;

const WRITES: Readonly<Record<'single' | 'batch', Write>> = {
  single: async (table, records) => {
    for (const { key, text } of records) await table.put(key, text);
  },
  batch: (table, records) => putAll(table, records, NEVER),
};

const CALLED = { single: 'put', batch: 'putManyRecord' } as const;

/** The store's rows by id: seconds for ten records, after ten others. */
async function storeC(options: DocumentOptions): Promise<DocumentRun> {
  const run = new Map<string, number>();
  for (const [size, characters] of Object.entries(SIZES)) {
    for (const name of ['single', 'batch'] as const) {
      const write = WRITES[name];
      await onModelledStore<string>(options, { name: 'c', options: {} }, async (table, timed) => {
        await write(table, recordsAt(0, characters));
        const tookMs = await timed({ operation: CALLED[name], count: RECORDS }, () =>
          write(table, recordsAt(RECORDS, characters)),
        );
        run.set(`store-${size}-${name}`, tookMs / 1_000);
      });
    }
  }
  return run;
}

/** Making them takes longer than a run. */
const texts = new Map<number, (index: number) => string>();

function recordsAt(first: number, characters: number): TextRecord[] {
  const textOf = texts.get(characters) ?? textsOf(characters);
  texts.set(characters, textOf);
  return Array.from({ length: RECORDS }, (_, index) => ({ key: `r${first + index}`, text: textOf(first + index) }));
}

export const NOTES_C = modelNotes(
  'What weighs most on Datastore: commit.baseMs (measured by others, ten requests) and transaction.baseMs (a guess), by which alone the ratios double or halve. On Azure: commit.baseMs, transaction.baseMs, tail.factor and transaction.perEntityMs, all guesses.',
  'a batch that is no transaction, on Azure.',
);
