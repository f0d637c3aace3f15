// The client of the comparison: sends a plan's cells to the functions, one at a time, and gathers their answers. A cell that fails is
// kept with its error; the others go on. All state of a run is here, none in the functions.
import { type CellResult, cellResultSchema } from '../cell/old-cell.ts';
import { WINDOW_GROWTH_MAX } from '../cell/window.ts';
import type { OldWorkload } from '../cell/old-cell.ts';
import type { Layout, Provider } from '../dimensions.ts';
import { type Endpoint, messageOf, problemOf } from './endpoint.ts';
import { median } from './median.ts';
import { cellsOf, type Plan, type PlannedCell, repeated, warmupCellsOf } from './old-plan.ts';
import { Datasets, type Leftover } from './datasets.ts';

export type { Endpoint } from './endpoint.ts';

/** One combination, with every run of it. */
export interface MeasuredCell {
  readonly provider: Provider;
  readonly layout: Layout;
  readonly workload: OldWorkload;
  readonly concurrency: number;
  /** In the order they ran; at least one. */
  readonly runs: readonly CellResult[];
}

/** A cell without a result; `error` is one line. */
export interface FailedCell {
  readonly provider: Provider;
  readonly layout: Layout;
  readonly workload: OldWorkload;
  readonly concurrency: number;
  readonly error: string;
}

/** What a run measured, what failed, and what it left behind. */
export interface PlanOutcome {
  readonly cells: readonly MeasuredCell[];
  readonly failures: readonly FailedCell[];
  /** Datasets of the run that could not be removed after it. */
  readonly leftovers: readonly Leftover[];
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** The cell that begins now. */
  readonly cell: PlannedCell;
}

export interface CoordinatorOptions {
  readonly endpoints: readonly Endpoint[];
  /** Ends the run: the present request is given up, what the run made is removed, the promise rejects. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Default the platform's. */
  readonly fetch?: typeof fetch;
}

/** A cell may load its dataset first and drain afterwards, beside its window. */
const CELL_EXTRA_MS = 50_000;

/**
 * Runs the plan: every cell once, then `load` again, for each layout at the concurrency with the highest median so far, until that one has all
 * its repetitions. So no layout is judged by one lucky run. However the run ends, its datasets and those of its warm-up are removed then, which
 * takes at most three minutes. Rejects only when the signal aborts.
 */
export async function runPlan(plan: Plan, runId: string, options: CoordinatorOptions): Promise<PlanOutcome> {
  const run = new PlanRun(plan, options);
  const cells = cellsOf(
    plan,
    options.endpoints.map(({ provider }) => provider),
    runId,
  );
  const datasets = new Datasets();
  for (const endpoint of options.endpoints) addWarmup(datasets, endpoint, runId);
  try {
    for (const cell of cells) await run.measure(cell, datasets);
    for (let due = run.loadsToRepeat(cells); due.length > 0; due = run.loadsToRepeat(cells)) {
      for (const cell of due) await run.measure(cell, datasets);
    }
  } catch (error) {
    throw endedBy(error, await datasets.remove(options.fetch));
  }
  return { ...run.outcome(), leftovers: await datasets.remove(options.fetch) };
}

/**
 * Heats up all endpoints at once for about `durationMs`; what it measures is thrown away, and what fails will fail again in the plan. Its
 * datasets stay for `runPlan` to remove, unless the signal aborts.
 */
export async function warmUp(durationMs: number, runId: string, options: CoordinatorOptions): Promise<void> {
  const heat = async (endpoint: Endpoint): Promise<void> => {
    for (const cell of warmupCellsOf(endpoint.provider, durationMs, runId)) {
      try {
        await requestCell(cell, endpoint, options);
      } catch {
        if (options.signal.aborted) return;
      }
    }
  };
  await Promise.all(options.endpoints.map(heat));
  if (!options.signal.aborted) return;
  const datasets = new Datasets();
  for (const endpoint of options.endpoints) addWarmup(datasets, endpoint, runId);
  throw endedBy(options.signal.reason, await datasets.remove(options.fetch));
}

function addWarmup(datasets: Datasets, endpoint: Endpoint, runId: string): void {
  for (const { request } of warmupCellsOf(endpoint.provider, 0, runId)) datasets.add(endpoint, request.dataset);
}

/** The reason why the run ended; where datasets are left over, an error around it that names them. */
function endedBy(reason: unknown, leftovers: readonly Leftover[]): unknown {
  if (leftovers.length === 0) return reason;
  const names = leftovers.map(({ provider, dataset, error }) => `${provider} ${dataset} (${error})`);
  return new Error(`${messageOf(reason)}; not removed: ${names.join(', ')}`, { cause: reason });
}

class PlanRun {
  readonly #options: CoordinatorOptions;
  readonly #repetitions: number;
  /** A lower bound: which concurrencies are repeated shows only as they run. */
  #total: number;
  #done = 0;
  readonly #measured = new Map<string, CellResult[]>();
  readonly #tries = new Map<string, number>();
  readonly #failures: FailedCell[] = [];

  constructor({ concurrencies, loadRepetitions }: Plan, options: CoordinatorOptions) {
    this.#options = options;
    this.#repetitions = loadRepetitions;
    this.#total = options.endpoints.length * 3 * (3 * concurrencies.length + loadRepetitions - 1);
  }

  async measure(cell: PlannedCell, datasets: Datasets): Promise<void> {
    const { endpoints, signal, onProgress } = this.#options;
    const endpoint = endpoints.find(({ provider }) => provider === cell.provider)!;
    this.#total = Math.max(this.#total, this.#done + 1);
    onProgress?.({ done: this.#done, total: this.#total, cell });
    datasets.add(endpoint, cell.request.dataset);
    const name = nameOf(cell.provider, cell.request);
    this.#tries.set(name, (this.#tries.get(name) ?? 0) + 1);
    try {
      const result = await requestCell(cell, endpoint, this.#options);
      this.#measured.set(name, [...(this.#measured.get(name) ?? []), result]);
    } catch (error) {
      signal.throwIfAborted();
      const { layout, workload, concurrency } = cell.request;
      this.#failures.push({ provider: cell.provider, layout, workload, concurrency, error: messageOf(error) });
    }
    this.#done++;
  }

  /** The best load cell of each layout so far, where it lacks repetitions. A cell that fails uses up its tries. */
  loadsToRepeat(cells: readonly PlannedCell[]): PlannedCell[] {
    const best = new Map<string, { readonly cell: PlannedCell; readonly rate: number }>();
    for (const cell of cells) {
      const runs = this.#measured.get(nameOf(cell.provider, cell.request));
      if (runs === undefined || cell.request.workload !== 'load') continue;
      const series = `${cell.provider} ${cell.request.layout}`;
      const rate = median(runs.map(rateOf));
      if (rate > (best.get(series)?.rate ?? 0)) best.set(series, { cell, rate });
    }
    return [...best.values()].flatMap(({ cell }) => {
      const tries = this.#tries.get(nameOf(cell.provider, cell.request)) ?? 0;
      return tries < this.#repetitions ? [repeated(cell, tries + 1)] : [];
    });
  }

  outcome(): Omit<PlanOutcome, 'leftovers'> {
    const cells = [...this.#measured.values()].map((runs) => {
      const { provider, layout, workload, concurrency } = runs[0]!;
      return { provider, layout, workload, concurrency, runs };
    });
    return { cells, failures: this.#failures };
  }
}

/** Records a second within the window. */
export function rateOf({ records, durationMs }: Pick<CellResult, 'records' | 'durationMs'>): number {
  return records / (durationMs / 1_000);
}

async function requestCell(
  { provider, request }: PlannedCell,
  { url, headers }: Endpoint,
  { signal, fetch: send = fetch }: CoordinatorOptions,
): Promise<CellResult> {
  const timeoutMs = (request.warmupMs ?? 0) + WINDOW_GROWTH_MAX * (request.durationMs ?? 0) + CELL_EXTRA_MS;
  const response = await send(`${url}/v1/compare/cells`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', 'Stowage-Timeout-Ms': String(timeoutMs) },
    body: JSON.stringify(request),
    // The function's own deadline comes first: its answer says more than a broken connection.
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs + 5_000)]),
  });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(problemOf(response.status, body));
  const result = cellResultSchema.parse(body);
  if (result.provider !== provider)
    throw new Error(`the function at ${url} is on ${result.provider}, not on ${provider}`);
  return result;
}

function nameOf(provider: Provider, { layout, workload, concurrency }: PlannedCell['request']): string {
  return [provider, layout, workload, concurrency].join(' ');
}
