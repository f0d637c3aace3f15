// The report of a plan: what was modelled, with which numbers, and each cell's result as it is. The same results make the same bytes on any machine: so it names
// no time and no machine but those of the calibration.
import { type Provider, PROVIDERS } from '../../kit/dimensions.ts';
import { type Figure, namesOf, ProviderParameters } from '../../cloud/data/parameters.ts';
import type { ProcessorTable } from '../../cloud/data/processor.ts';
import type { ModelCell, ModelResult } from '../../cloud/run/cell.ts';
import type { ModelPlan, PlannedRow } from '../../plan/modelled/plan.ts';
import { PROVIDER_DATA, PROCESSOR_DATA } from '../../cloud/run/providers.ts';
import { type GoalResult, goalsOf, type PlayedRow } from './goals.ts';

/** Raised when a field changes its meaning or goes. */
const MODEL_SCHEMA_VERSION = 4;

/** A cell's result and its place in the plan. */
export interface ModelReportCell extends ModelResult, Pick<PlannedRow, 'group' | 'across' | 'at'> {}

/** What `report/model.json` holds. */
export interface ModelReport {
  readonly schemaVersion: number;
  /** In words, what was modelled. */
  readonly what: string;
  /** The plan's name. */
  readonly plan: string;
  readonly seed: number;
  /** Those that any cell was played on, with the parameters that its figures hang on. */
  readonly clouds: readonly {
    readonly provider: Provider;
    /** Of its file of numbers. */
    readonly name: string;
    readonly date: string;
    /** `value`: of cells without settings of their own. */
    readonly parameters: readonly (Figure & { readonly name: string; readonly value: number })[];
  }[];
  /** The calibration that processor time comes from; null where it costs nothing. */
  readonly processor: (Pick<ProcessorTable, 'measured'> & Omit<ProcessorTable['machine'], 'cores'>) | null;
  readonly goals: readonly GoalResult[];
  readonly cells: readonly ModelReportCell[];
  /** What a reader has to know to read the figures. */
  readonly notes: readonly string[];
}

/** What stands at the top of every file. */
export const MODEL_WORDS =
  "A MODEL, no measurement: this store's real engine, and the plain layouts, on modelled clouds in virtual time. Every latency, limit and contention is a number from the table of parameters, and several of those are guesses.";

const NOTES: readonly string[] = [
  MODEL_WORDS,
  'Layouts are modelled alike, so ratios between them say more than rates. A figure hangs on the parameters that its cell names: see them with their low and high ends in the table, and play it again with others.',
  'record: single entities, written without a condition. conditional: every write reads the record and writes it if nobody else did, again until it holds. batch: the batches of the SDK. container: this store.',
  'read: strong gets. put: whole records. modify: read, change and write as one step. ycsb-a: half reads, half puts, zipfian. load: 500 new records a call.',
  'Closed loops: each caller waits for its reply. Arrivals: they wait for nothing, and their latency counts from the moment they were due; concurrency is then the mean number under way.',
  "Each cell has a fixed budget of operations, so that plans take minutes; warmupMs and windowMs say how much virtual time it came to. slowestCaller: operations of the slowest caller as a share of the mean caller's.",
  "Each instance has one processor, first come, first served; what operations and requests cost it was measured on one machine beside emulators. What the engine's own work costs in real time is not counted otherwise.",
  'Not modelled: deployments, garbage collection, TLS handshakes, platforms that slow down or stop instances, several regions, other tenants.',
];

export function modelReport(
  played: readonly PlayedRow[],
  { plan, seed }: { readonly plan: ModelPlan; readonly seed: number },
): ModelReport {
  const results = played.flatMap((one) => one.results);
  const { measured, machine } = PROCESSOR_DATA;
  const { cpu, platform, node } = machine;
  return {
    schemaVersion: MODEL_SCHEMA_VERSION,
    what: MODEL_WORDS,
    plan: plan.name,
    seed,
    clouds: PROVIDERS.flatMap((provider) => cloudOf(provider, results)),
    processor: results.some(({ cell }) => cell.hasProcessor) ? { measured, cpu, platform, node } : null,
    goals: goalsOf(played),
    cells: played.flatMap(({ row, results: own }) => {
      const { group, across, at } = row;
      return own.map((result) => ({ group, across, at, ...result }));
    }),
    notes: NOTES,
  };
}

/** The parameters that any of the cells hangs on; values are those of the cells that set none of their own. */
function cloudOf(provider: Provider, results: readonly ModelResult[]): ModelReport['clouds'] {
  const own = results.filter(({ cell }) => cell.provider === provider);
  if (own.length === 0) return [];
  const used = new Set(own.flatMap(({ parameters }) => parameters));
  const data = PROVIDER_DATA[provider];
  const common = new ProviderParameters(data, commonSettings(own));
  const parameters = namesOf(data)
    .filter((name) => used.has(name))
    .map((name) => ({ name, value: common.get(name), ...data.figures[name] }));
  return [{ provider, name: data.name, date: data.date, parameters }];
}

/** Settings that all cells have. */
function commonSettings(results: readonly ModelResult[]): ModelCell['settings'] {
  const [first, ...others] = results.map(({ cell }) => Object.entries(cell.settings));
  const isCommon = ([name, value]: [string, unknown]): boolean =>
    others.every((entries) => entries.some(([other, its]) => other === name && its === value));
  return Object.fromEntries((first ?? []).filter(isCommon));
}
