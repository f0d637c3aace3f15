// What the model of the clouds says of document C, and what it does not.
import { documentC } from '../../../../shared/model/work/documents.ts';
import { type ModelledDocument, type ModelledRow, modelNotes } from '../../modelled.ts';

const ROWS = {
  'big-transaction': 'big, in a transaction',
  'big-single': 'big, one by one',
  'small-single': 'small, one by one',
  'small-transaction': 'small, in a transaction',
} as const;

/** On Azure a batch is a transaction. */
const BATCHES = { 'big-batch': 'big, in one batch', 'small-batch': 'small, in one batch' } as const;

export const MODELLED_C: ModelledDocument = {
  play: documentC,
  rows: (provider) =>
    Object.entries(provider === 'datastore' ? { ...ROWS, ...BATCHES } : ROWS).map(([row, name]): ModelledRow => ({
      name,
      row,
      suffix: 's',
    })),
  providers: ['datastore', 'azure-tables'],
};

export const NOTES_C = modelNotes(
  'What weighs most on Datastore: commit.baseMs (measured by others, ten requests) and transaction.baseMs (a guess), by which alone the ratios double or halve. On Azure: commit.baseMs, transaction.baseMs, tail.factor and transaction.perEntityMs, all guesses.',
  'this store.',
);
