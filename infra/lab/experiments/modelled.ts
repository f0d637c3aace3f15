// The column of the model: the rows of documents B, C and E on the clouds of today as shared/lab/cloud has them, calculated in virtual time. The SDK's rows are
// the documents' runs on the model; this store's are played as they are on emulators, on a processor that charges what the model's measured table says.
import { setImmediate as turn } from 'node:timers/promises';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { ProviderParameters } from '../../../shared/lab/cloud/data/parameters.ts';
import type { ContainerCosts } from '../../../shared/lab/cloud/data/processor.ts';
import { Instance } from '../../../shared/lab/cloud/instance/instance.ts';
import { loadHash } from '../../../shared/lab/cloud/run/datasets.ts';
import { PROCESSOR_DATA, PROVIDER_DATA } from '../../../shared/lab/cloud/run/providers.ts';
import {
  type DocumentOptions,
  type DocumentRun,
  WRITES_MAX_2026,
} from '../../../shared/lab/plan/modelled/documents.ts';
import { ModelledCloud } from '../../../shared/lab/cloud/target.ts';
import { memoryState } from '../../../shared/drivers/memory.ts';
import { messageOf } from './experiment.ts';
import { type DocumentPlan, modelColumn, type PlannedRow, tableOf, timesOf, wayOf } from './plan.ts';
import { type Figure, figureOf } from '../../../shared/lab/report/chapters/schema.ts';
import type { Cells } from './rounds.ts';
import { loadRecords, tableOptions } from './sites.ts';
import { storeTable } from './text-table.ts';
import { callsOf, Records, sendAll, type Way } from './ways.ts';

/** How a document's rows of the SDK are played. */
export interface ModelledDocument {
  readonly play: (options: DocumentOptions) => Promise<DocumentRun>;
  /** Milliseconds for as many records as the row's figures are of. */
  readonly msOf: (run: DocumentRun, row: PlannedRow) => number;
}

/** What one run takes is up to chance, as on a cloud: the SDK's rows are quickly played, the store's take longer. */
export interface ModelRuns {
  readonly sdk: number;
  readonly store: number;
}

export const MODEL_RUNS: ModelRuns = { sdk: 25, store: 5 };

/**
 * Figures by row and column, of runs with the seeds from 1 on, all parameters at their middle: the same every time. A run that fails shows in all rows of its
 * client and provider; after the signal nothing is begun, and rows are `missing`.
 */
export async function modelledCells(
  plan: DocumentPlan,
  { play, msOf }: ModelledDocument,
  runs: ModelRuns,
  { signal }: { readonly signal: AbortSignal },
): Promise<Cells> {
  const cells = new Map<string, Record<string, Figure>>();
  for (const provider of plan.providers) {
    const played = (client: Way['client']): PlannedRow[] => plan.rows.filter((row) => isPlayed(row, provider, client));
    const fill = async (rows: readonly PlannedRow[], count: number, run: PlayRows): Promise<void> => {
      const all = await playedRuns(run, provider, count, signal);
      for (const row of rows)
        for (const suffix of ['ms', 's', 'rate']) {
          const numberOf = (ms: ReadonlyMap<string, number>): number => timesOf(ms.get(row.id)!, row.per)[suffix]!;
          const figure = 'runs' in all ? figureOf(all.runs.map(numberOf)) : all;
          cells.set(row.id, { ...cells.get(row.id), [modelColumn(provider, suffix)]: figure });
        }
    };
    const [sdk, store] = [played('sdk'), played('store')];
    await fill(sdk, runs.sdk, async (options) => {
      const run = await play(options);
      return new Map(sdk.map((row) => [row.id, msOf(run, row)]));
    });
    await fill(store, runs.store, (options) => playStore(plan, store, options, signal));
  }
  return cells;
}

function isPlayed(row: PlannedRow, provider: Provider, client: Way['client']): boolean {
  const way = wayOf(row, provider);
  if (typeof way === 'string' || way.client !== client) return false;
  return client === 'sdk' ? row.modelled !== undefined : CALLED[way.verb] !== undefined;
}

/** Milliseconds by row. */
type PlayRows = (options: DocumentOptions) => Promise<ReadonlyMap<string, number>>;

async function playedRuns(play: PlayRows, provider: Provider, count: number, signal: AbortSignal) {
  const runs: ReadonlyMap<string, number>[] = [];
  try {
    for (let seed = 1; seed <= count; seed += 1) {
      await turn();
      if (signal.aborted) return { missing: messageOf(signal.reason) };
      const parameters = new ProviderParameters(PROVIDER_DATA[provider]);
      runs.push(await play({ parameters, seed, writesMax: WRITES_MAX_2026[provider] }));
    }
    return { runs };
  } catch (error) {
    return { failed: `in the model: ${messageOf(error)}` };
  }
}

/** More are a loop without an end. */
const STEPS_MAX = 100_000_000;

/** What a call is to the table of processor time, for one record and for several; other verbs are not played. */
const CALLED: Readonly<
  Partial<
    Record<Way['verb'], readonly [single: keyof ContainerCosts['operation'], many: keyof ContainerCosts['operation']]>
  >
> = { write: ['put', 'putManyRecord'], read: ['get', 'getManyRecord'] };

/** Rows of one table are played on one store, one after the other; tables that rows use again have been used before. */
async function playStore(
  plan: DocumentPlan,
  rows: readonly PlannedRow[],
  options: DocumentOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  await loadHash();
  const run = new Map<string, number>();
  for (const [name, sharing] of Map.groupBy(rows, (row) => tableOf(plan, row, 0)))
    await onModelledStore({ plan, name, options, signal }, async (play) => {
      for (const row of sharing) {
        const way = wayOf(row, options.parameters.data.provider) as Way;
        if (plan.tables !== 'each run') await play(way);
        run.set(row.id, ((await play(way)) / way.records) * row.per);
      }
    });
  return run;
}

interface Modelled {
  readonly plan: DocumentPlan;
  /** Of the table. */
  readonly name: string;
  readonly options: DocumentOptions;
  readonly signal: AbortSignal;
}

/** Gives `use` what plays a way on a table, which has been loaded and read: the milliseconds that it takes, those of the processor's part in its operations first. */
async function onModelledStore(
  { plan, name, options: { parameters, seed }, signal }: Modelled,
  use: (play: (way: Way) => Promise<number>) => Promise<void>,
): Promise<void> {
  const costs = PROCESSOR_DATA.costs[parameters.data.provider];
  const cloud = new ModelledCloud({ parameters, seed, costs });
  const { scheduler } = cloud;
  const instance = new Instance(0, scheduler, 0);
  const spend = async (way: Way): Promise<void> => {
    const [single, many] = CALLED[way.verb]!.map((name) => {
      const cost = costs.container.operation[name];
      return typeof cost === 'number' ? cost : cost.alone;
    }) as [number, number];
    const roots = way.rootEach === undefined ? 0 : way.records / way.rootEach;
    await instance.processor.spend(way.records * (way.group === 1 ? single : many) + roots * single);
  };
  const work = async (): Promise<void> => {
    const store = cloud.openStore(instance, memoryState());
    const table = storeTable(await store.table<string>(name, tableOptions(plan)));
    const records = new Records(plan.loaded);
    if (plan.loaded > 0) {
      await loadRecords(table, records.loaded(plan.characters), plan.loaded, signal);
      await table.getMany(records.neighbours(plan.loaded));
    }
    await use(async (way) => {
      const calls = callsOf(table, way, records);
      const startedMs = scheduler.nowMs;
      await spend(way);
      await sendAll(calls, way.inFlight, signal);
      return scheduler.nowMs - startedMs;
    });
  };
  await scheduler.run(work(), STEPS_MAX);
}

/** For the other tables of a chapter. */
export const MODEL_NOTE =
  'The columns marked "model" are calculated, not measured: a note in this chapter says on what.';

/** What whoever reads a column of the model must know; `weighs` says which parameters the figures hang on most. */
export function modelNotes(weighs: string, empty: string): string[] {
  return [
    `The columns marked "model" are calculated, not measured: ${MODEL_RUNS.sdk} runs (of this store ${MODEL_RUNS.store}) in virtual time on a model of today's clouds, every parameter at its middle. It was never compared with a cloud, and most of its parameters are guesses (shared/lab/cloud/README.md): its ratios tell more than its times. Of the client's processor time this store is charged what was measured (shared/lab/cloud/data), the SDK alone nothing. Which parameters weigh most was tried on the SDK's rows, each at the ends of its range, not on this store's. ${weighs}`,
    `Empty in the model's columns: ${empty}`,
  ];
}
