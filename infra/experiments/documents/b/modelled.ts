// What the model of the clouds says of document B, and what it does not.
import { documentB } from '../../../../shared/model/work/documents.ts';
import { type ModelledDocument, type ModelledRow, modelNotes } from '../../modelled.ts';

/** Rows by the names of the model's runs. Settings of connections are not modelled: a row of theirs would be the serial one again. */
const ROWS = { baseline: 'serial', parallel: 'parallel', everything: 'everything' } as const;

/** Of a run of the model, which is in seconds. */
const ENTITIES = 10_000;

const ALL: readonly ModelledRow[] = [
  { name: 'single', row: 'single', suffix: 'rate' },
  ...Object.entries(ROWS).flatMap(([row, name]): ModelledRow[] => [
    { name, row, suffix: 's' },
    { name, row, suffix: 'rate', scale: (seconds) => ENTITIES / seconds },
  ]),
];

/** The document's own provider comes first. */
export const MODELLED_B: ModelledDocument = {
  play: documentB,
  rows: () => ALL,
  providers: ['azure-tables', 'datastore'],
};

export const NOTES_B = modelNotes(
  "What weighs most on Azure: partition.unitsPerSecond (2,000 entities a second are the documented target; one user saw 16,000) and partition.burstSeconds (a guess). At the middle all that is sent in parallel waits for the partition; with either at its high end the parallel loop takes a ninth of the baseline's time. Then transaction.perEntityMs and commit.baseMs, both guesses. On Datastore: range.count and range.waitMaxMs, guesses, at whose low ends the parallel loop is refused for good; commit.perEntityMs and commit.baseMs. The database is taken for one that has carried such a load for hours.",
  "the settings of connections (Expect, Nagle, their number while one batch follows the other), which are not modelled; the local emulator; the SDK's own connections, which would be the same figures again; commits of 500; this store. The parallel loop has 12 batches on their way, as ASP.NET of then allowed a processor; everything together has 48.",
);
