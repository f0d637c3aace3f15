// The column of the model: the documents' rows on the clouds of today as shared/lab/cloud has them, calculated before anything is measured.
import { setImmediate as turn } from 'node:timers/promises';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { PROVIDER_SHORT_NAMES } from '../../../shared/lab/report/names.ts';
import { ProviderParameters } from '../../../shared/lab/cloud/data/parameters.ts';
import { PROVIDER_DATA } from '../../../shared/lab/cloud/run/providers.ts';
import {
  type DocumentOptions,
  type DocumentRun,
  WRITES_MAX_2026,
} from '../../../shared/lab/plan/modelled/documents.ts';
import type { Measure } from './columns.ts';
import { messageOf } from './experiment.ts';
import { type Column, type Figure, figureOf } from './results.ts';
import type { Cells } from './rounds.ts';

/** A document's row in the table of its experiment. */
export interface ModelledRow {
  /** Its name in the document's runs. */
  readonly name: string;
  /** Id of its row. */
  readonly row: string;
  /** End of the column's id. */
  readonly suffix: string;
  /** From the unit of the run to that of the column. Default: the same. */
  readonly scale?: (value: number) => number;
}

/** Runs of what is played quickly, and of this store, which takes longer: what one run takes is up to chance, as on a cloud. */
export const RUNS = { plain: 25, store: 5 } as const;

/** A document's experiment, or a part of it. */
export interface ModelledDocument {
  readonly runs: number;
  readonly play: (options: DocumentOptions) => Promise<DocumentRun>;
  readonly rows: (provider: Provider) => readonly ModelledRow[];
  readonly providers: readonly Provider[];
}

/**
 * Figures by row and column, of runs with the seeds from 1 on, all parameters at their middle: the same every time. Takes some seconds of
 * processor time at most. A run that fails shows in all rows of its provider; after the signal nothing is begun, and rows are `missing`.
 */
export async function modelledCells(
  documents: readonly ModelledDocument[],
  { signal }: { readonly signal: AbortSignal },
): Promise<Cells> {
  const cells = new Map<string, Record<string, Figure>>();
  for (const document of documents) {
    for (const provider of document.providers) {
      const played = await runsOf(document, provider, signal);
      for (const { name, row, suffix, scale = same } of document.rows(provider)) {
        const figure = 'runs' in played ? figureOf(played.runs.map((run) => scale(valueOf(run, name)))) : played;
        cells.set(row, { ...cells.get(row), [columnId(provider, suffix)]: figure });
      }
    }
  }
  return cells;
}

type Played = { readonly runs: readonly DocumentRun[] } | { readonly failed: string } | { readonly missing: string };

async function runsOf(document: ModelledDocument, provider: Provider, signal: AbortSignal): Promise<Played> {
  const runs: DocumentRun[] = [];
  try {
    for (let seed = 1; seed <= document.runs; seed += 1) {
      await turn();
      if (signal.aborted) return { missing: messageOf(signal.reason) };
      const parameters = new ProviderParameters(PROVIDER_DATA[provider]);
      runs.push(await document.play({ parameters, seed, writesMax: WRITES_MAX_2026[provider] }));
    }
    return { runs };
  } catch (error) {
    return { failed: `in the model: ${messageOf(error)}` };
  }
}

function valueOf(run: DocumentRun, name: string): number {
  const value = run.get(name);
  if (value === undefined) throw new Error(`the model plays no ${name}`);
  return value;
}

function same(value: number): number {
  return value;
}

function columnId(provider: Provider, suffix: string): string {
  return `model-${provider}-${suffix}`;
}

/** A measure's column of each provider's model. */
export function modelColumns({ suffix, ...measure }: Measure, providers: readonly Provider[]): Column[] {
  return providers.map((provider) => ({
    ...measure,
    id: columnId(provider, suffix),
    era: 'model',
    where: `${PROVIDER_SHORT_NAMES[provider]}, ${PROVIDER_DATA[provider].date.slice(0, 4)}`,
  }));
}

/** The cells of both; the first ones' columns are not the others'. */
export function withCells(cells: Cells, others: Cells): Cells {
  const rows = new Set([...cells.keys(), ...others.keys()]);
  return new Map([...rows].map((row) => [row, { ...cells.get(row), ...others.get(row) }]));
}

/** For the other tables of a chapter. */
export const MODEL_NOTE =
  'The columns marked "model" are calculated, not measured: a note in this chapter says on what.';

/** What whoever reads a column of the model must know; `weighs` says which parameters the figures hang on most. */
export function modelNotes(weighs: string, empty: string): string[] {
  return [
    `The columns marked "model" are calculated, not measured: ${RUNS.plain} runs (of this store ${RUNS.store}) in virtual time on a model of today's clouds, every parameter at its middle. It was never compared with a cloud, and most of its parameters are guesses (shared/lab/cloud/README.md): its ratios tell more than its times. Of the client's processor time this store is charged what was measured (shared/lab/cloud/data), the SDK alone nothing. Which parameters weigh most was tried on the SDK's rows, each at the ends of its range, not on this store's. ${weighs}`,
    `Empty in the model's columns: ${empty}`,
  ];
}
