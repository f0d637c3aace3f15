// What the model of the clouds says of document B, and what it does not.
import { chunks } from '../../../../../shared/lab/kit/chunks.ts';
import {
  documentB,
  type DocumentOptions,
  type DocumentRun,
} from '../../../../../shared/lab/plan/modelled/documents.ts';
import { onModelledStore } from '../../modelled-store.ts';
import { type ModelledDocument, type ModelledRow, modelNotes, RUNS } from '../../modelled.ts';
import type { TextRecord } from '../../plain-sdk/plain-sdk.ts';
import { forEachOf } from '../../rounds.ts';
import { putAll } from '../../text-table.ts';
import { GROUP, PARALLEL, TEXT, type Way } from './ways.ts';

/** Rows by the names of the model's runs. Settings of connections are not modelled: a row of theirs would be the serial one again. */
const ROWS = { baseline: 'serial', parallel: 'parallel', everything: 'everything' } as const;

/** Of a run of the model, which is in seconds. */
const ENTITIES = 10_000;
/** Single puts of this store; as many as the documents of the model have single writes. */
const SINGLES = 100;

/** Virtual time is bounded otherwise. */
const NEVER = new AbortController().signal;

const ALL: readonly ModelledRow[] = [
  { name: 'single', row: 'single', suffix: 'rate' },
  ...Object.entries(ROWS).flatMap(([row, name]): ModelledRow[] => [
    { name, row, suffix: 's' },
    { name, row, suffix: 'rate', scale: (seconds) => ENTITIES / seconds },
  ]),
];

const STORE_ROWS: readonly ModelledRow[] = [
  { name: 'store-single', row: 'store-single', suffix: 'rate' },
  ...['store-baseline', 'store-parallel', 'store-whole'].flatMap((row): ModelledRow[] => [
    { name: row, row, suffix: 's' },
    { name: row, row, suffix: 'rate', scale: (seconds) => ENTITIES / seconds },
  ]),
];

/** The document's own provider comes first. */
export const PROVIDERS = ['azure-tables', 'datastore'] as const;

export const MODELLED_B: readonly ModelledDocument[] = [
  { play: documentB, rows: () => ALL, providers: PROVIDERS, runs: RUNS.plain },
  { play: storeB, rows: () => STORE_ROWS, providers: PROVIDERS, runs: RUNS.store },
];

/** The store's rows by id: entities a second of single puts, seconds for 10,000 entities of the others. */
async function storeB(options: DocumentOptions): Promise<DocumentRun> {
  const ms = async (way: Omit<Way, 'row'>, count: number): Promise<number> => {
    let tookMs = 0;
    const groups = chunks(recordsOf(count), way.group);
    await onModelledStore<string>(options, { name: 'b', options: {} }, async (table, timed) => {
      tookMs = await timed({ operation: way.group === 1 ? 'put' : 'putManyRecord', count }, () =>
        forEachOf(groups, { inFlight: way.inFlight, signal: NEVER }, (some) =>
          way.group === 1 ? table.put(some[0]!.key, some[0]!.text) : putAll(table, some, NEVER),
        ),
      );
    });
    return tookMs;
  };
  const seconds = async (group: number, inFlight: number) => (await ms({ group, inFlight }, ENTITIES)) / 1_000;
  return new Map([
    ['store-single', (SINGLES * 1_000) / (await ms({ group: 1, inFlight: 1 }, SINGLES))],
    ['store-baseline', await seconds(GROUP, 1)],
    ['store-parallel', await seconds(GROUP, PARALLEL)],
    ['store-whole', await seconds(ENTITIES, 1)],
  ]);
}

/** Keys as long as a GUID: the table scatters them by their hashes. */
function recordsOf(count: number): TextRecord[] {
  return Array.from({ length: count }, (_, counter) => ({
    key: String(counter).padStart(36, '0'),
    text: `${TEXT}${counter}`,
  }));
}

export const NOTES_B = modelNotes(
  "What weighs most on Azure: partition.unitsPerSecond (2,000 entities a second are the documented target; one user saw 16,000) and partition.burstSeconds (a guess). At the middle all that is sent in parallel waits for the partition; with either at its high end the parallel loop takes a ninth of the baseline's time. Then transaction.perEntityMs and commit.baseMs, both guesses. On Datastore: range.count and range.waitMaxMs, guesses, at whose low ends some request is refused for good and the document cannot be played; commit.perEntityMs and commit.baseMs. The database is taken for one that has carried such a load for hours.",
  "the settings of connections (Expect, Nagle, their number while one batch follows the other), which are not modelled; the local emulator; the SDK's own connections, which would be the same figures again; commits of 500. The parallel loop has 12 batches on their way, as ASP.NET of then allowed a processor; everything together has 48.",
);
