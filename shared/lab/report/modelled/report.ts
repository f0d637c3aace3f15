// The report of a model's plan. The same results make the same bytes on any machine.
import { decimal, dollars } from '../../kit/format.ts';
import { type ModelLayout, type Provider, PROVIDERS } from '../../kit/dimensions.ts';
import { namesOf, ProviderParameters } from '../../cloud/data/parameters.ts';
import type { ModelCell, ModelResult } from '../../cloud/run/cell.ts';
import { PROCESSOR_DATA, PROVIDER_DATA } from '../../cloud/run/providers.ts';
import type { ModelPlan } from '../../plan/modelled/plan.ts';
import { type Chapter, chaptersReport, type ChaptersReport, type Result, type WordTable } from '../chapters/schema.ts';
import { failedIn, PROVIDER_NAMES } from '../names.ts';
import { goalsOf, type PlayedRow } from './goals.ts';

/** A model must not pass for a measurement: this stands at the top of every report. */
const MODEL_WORDS =
  "A MODEL, no measurement: this store's real engine, and the plain layouts, on modelled clouds in virtual time. Every latency, limit and contention is a number from the table of parameters, and several of those are guesses.";

const NOTES: readonly string[] = [
  'Layouts are modelled alike, so ratios between them say more than rates. A figure hangs on the parameters that stand in the last chapter, with their low and high ends: play it again with others.',
  'record: single entities, written without a condition. conditional: every write reads the record and writes it if nobody else did, again until it holds. batch: the batches of the SDK. container: this store.',
  'read: strong gets. put: whole records. modify: read, change and write as one step. ycsb-a: half reads, half puts, zipfian. load: 500 new records a call.',
  'Closed loops: each caller waits for its reply. Arrivals wait for nothing, and their latency counts from the moment they were due.',
  'Each cell has a fixed budget of operations, so that plans take minutes; its warmupMs and windowMs say how much virtual time it came to.',
  "Each instance has one processor, first come, first served; what operations and requests cost it was measured on one machine beside emulators. What the engine's own work costs in real time is not counted otherwise.",
  'Not modelled: deployments, garbage collection, TLS handshakes, platforms that slow down or stop instances, several regions, other tenants.',
];

/** From so many rows on the worst stand apart. */
const MANY_ROWS = 100;
const WORST_ROWS = 10;

/** `row`: the results of the cell's own row, itself among them. */
type Column = (result: ModelResult, row: readonly ModelResult[]) => string;

const COLUMNS: Readonly<Record<string, Column>> = {
  'op/s': (result) => decimal(result.operationsPerSecond),
  ':plain': (result, row) => ratio(result, row, 'record'),
  ':cond.': (result, row) => ratio(result, row, 'conditional'),
  'p50 ms': (result) => decimalOr(result.p50Ms),
  'p99 ms': (result) => decimalOr(result.p99Ms),
  'req/op': (result) => decimal(result.requestsPerOperation),
  'bill/op': (result) => decimal(result.billedPerOperation),
  'conf/op': (result) => decimal(result.conflictsPerOperation),
  '$/1M': (result) => dollars(result.dollarsPerMillion),
  slowest: (result) => decimalOr(result.slowestCaller),
  'proc %': (result) => (result.processorBusiest * 100).toFixed(0),
  refused: (result) => String(result.throttled + result.contended),
  failed: (result) => String(failedIn(result)),
};

const COLUMN_WORDS =
  'Case: instances x callers of each. :plain, :cond. throughput against single entities written without a condition, and read and written if unchanged, in the same case. slowest: operations of the slowest caller, of the mean caller. proc %: of the busiest instance. refused: throttled, or for a lock. -: too few operations, or nothing to compare.';

function decimalOr(value: number | null): string {
  return value === null ? '-' : decimal(value);
}

function ratio(result: ModelResult, row: readonly ModelResult[], layout: 'record' | 'conditional'): string {
  const other = row.find(({ cell }) => cell.layout === layout);
  if (other === undefined || other === result || other.operationsPerSecond === 0) return '-';
  return decimal(result.operationsPerSecond / other.operationsPerSecond);
}

export function modelReport(
  played: readonly PlayedRow[],
  { plan, seed }: { readonly plan: ModelPlan; readonly seed: number },
): ChaptersReport {
  const results = played.flatMap((one) => one.results);
  const { measured, machine } = PROCESSOR_DATA;
  const processor = results.some(({ cell }) => cell.hasProcessor)
    ? `Costs of an instance's processor were measured on ${measured}, ${machine.cpu}, Node.js ${machine.node}.`
    : 'Operations cost no processor time.';
  const groups = [...Map.groupBy(played, ({ row }) => row.group)];
  return chaptersReport({
    title: 'a model of the clouds',
    lead: [
      MODEL_WORDS,
      `Plan ${plan.name}, seed ${seed}: the same seed gives the same figures on any machine.`,
      processor,
      COLUMN_WORDS,
    ],
    ran: null,
    endedEarly: null,
    results: [
      ...groups.map(([title, rows], at) =>
        chapterOf(String(at + 1), title, '', { wordTables: tablesOf(rows), findings: goalsOf(rows, played) }),
      ),
      ...(played.length < MANY_ROWS
        ? []
        : [chapterOf('worst', 'The worst ten of all', '', { wordTables: tablesOf(worstOf(played)) })]),
      chapterOf('parameters', 'The parameters that these figures hang on', 'A range is our doubt.', {
        wordTables: PROVIDERS.flatMap((provider) => parametersOf(provider, results)),
      }),
    ],
    notes: NOTES,
  });
}

/** The rows that fare worst: alone against plain entities, in company against conditional ones. */
function worstOf(played: readonly PlayedRow[]): PlayedRow[] {
  return played.toSorted((one, other) => shareOf(one) - shareOf(other)).slice(0, WORST_ROWS);
}

function shareOf({ results }: PlayedRow): number {
  const rateOf = (layout: ModelLayout): number | undefined =>
    results.find(({ cell }) => cell.layout === layout)?.operationsPerSecond;
  const plain = results.some(({ instances }) => instances > 1) ? rateOf('conditional') : rateOf('record');
  const against = plain ?? rateOf('record') ?? rateOf('conditional');
  return (rateOf('container') ?? Infinity) / (against ?? 1);
}

function chapterOf(
  id: string,
  title: string,
  question: string,
  tables: Pick<Chapter, 'wordTables'> & Partial<Chapter>,
): Result {
  const chapter = { tables: [], cannotShow: [], findings: [], ...tables };
  return { id, title, question, source: null, chapter, failure: null };
}

function tablesOf(played: readonly PlayedRow[]): WordTable[] {
  return [...Map.groupBy(played, ({ row }) => row.provider)].map(([provider, rows]) => ({
    title: `${PROVIDER_NAMES[provider]}, modelled`,
    about: '',
    cells: 'numbers',
    columns: Object.keys(COLUMNS),
    rows: rows.flatMap(({ results }) =>
      results.map((result) => ({
        name: `${result.cell.case}: ${result.cell.layout}`,
        cells: Object.values(COLUMNS).map((column) => column(result, results)),
      })),
    ),
  }));
}

/** Parameters that any of the cells hangs on, with the values that all cells share. */
function parametersOf(provider: Provider, results: readonly ModelResult[]): WordTable[] {
  const own = results.filter(({ cell }) => cell.provider === provider);
  if (own.length === 0) return [];
  const used = new Set(own.flatMap(({ parameters }) => parameters));
  const data = PROVIDER_DATA[provider];
  const common = new ProviderParameters(data, commonSettings(own));
  const rows = namesOf(data)
    .filter((name) => used.has(name))
    .map((name) => {
      const { low, high, grade, source } = data.figures[name];
      return { name, cells: [String(common.get(name)), `${low} to ${high}`, grade, source] };
    });
  const about = `Of ${data.name}, sources of ${data.date}.`;
  const columns = ['value', 'low to high', 'grade', 'source'];
  return [{ title: PROVIDER_NAMES[provider], about, cells: 'words', columns, rows }];
}

function commonSettings(results: readonly ModelResult[]): ModelCell['settings'] {
  const [first, ...others] = results.map(({ cell }) => Object.entries(cell.settings));
  const isCommon = ([name, value]: [string, unknown]): boolean =>
    others.every((entries) => entries.some(([other, its]) => other === name && its === value));
  return Object.fromEntries((first ?? []).filter(isCommon));
}
