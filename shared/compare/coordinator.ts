// The client of the comparison: sends a plan's cells to the functions, one at a time, and gathers their answers. A cell that fails is
// kept with its error; the others go on. All state of a run is here, none in the functions.
import { z } from 'zod';
import type { CellResult, Layout, Provider, Workload } from './cell.ts';
import { cellResultSchema } from './cell.ts';
import { median } from './contest.ts';
import type { Plan, PlannedCell } from './plan.ts';
import { cellsOf, repeated, warmupCellsOf } from './plan.ts';
import { WINDOW_GROWTH_MAX } from './window.ts';

/** A `compare` function to run cells in. */
export interface Endpoint {
  readonly provider: Provider;
  /** Without `/v1`. */
  readonly url: string;
  /** Sent with each request: the keys. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One combination, with every run of it. */
export interface MeasuredCell {
  readonly provider: Provider;
  readonly layout: Layout;
  readonly workload: Workload;
  readonly concurrency: number;
  /** In the order they ran; at least one. */
  readonly runs: readonly CellResult[];
}

export interface FailedCell {
  readonly provider: Provider;
  readonly layout: Layout;
  readonly workload: Workload;
  readonly concurrency: number;
  readonly error: string;
}

export interface PlanOutcome {
  readonly cells: readonly MeasuredCell[];
  readonly failures: readonly FailedCell[];
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** The cell that begins now. */
  readonly cell: PlannedCell;
}

export interface CoordinatorOptions {
  readonly endpoints: readonly Endpoint[];
  /** Ends the run: the present request is given up, the promise rejects. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Default the platform's. */
  readonly fetch?: typeof fetch;
}

/** A cell may load its dataset first and drain afterwards, beside its window. */
const CELL_EXTRA_MS = 50_000;

const problemSchema = z.object({ title: z.string().optional(), detail: z.string().optional() });

/**
 * Runs the plan: every cell once, then of each layout the rung of `load` with the highest median so far, until that is one with all its
 * repetitions: so no layout is judged by a lucky first run, nor by a rung that was the best only once. Rejects only when the signal aborts.
 */
export async function runPlan(plan: Plan, runId: string, options: CoordinatorOptions): Promise<PlanOutcome> {
  const run = new PlanRun(plan, options);
  const cells = cellsOf(
    plan,
    options.endpoints.map(({ provider }) => provider),
    runId,
  );
  for (const cell of cells) await run.measure(cell);
  for (let due = run.loadsToRepeat(cells); due.length > 0; due = run.loadsToRepeat(cells)) {
    for (const cell of due) await run.measure(cell);
  }
  return run.outcome();
}

/** Heats up all endpoints at once for about `durationMs`; what it measures is thrown away, and what fails will fail again in the plan. */
export async function warmUp(durationMs: number, runId: string, options: CoordinatorOptions): Promise<void> {
  const heat = async (endpoint: Endpoint): Promise<void> => {
    for (const cell of warmupCellsOf(endpoint.provider, durationMs, runId)) {
      try {
        await requestCell(cell, endpoint, options);
      } catch {
        options.signal.throwIfAborted();
      }
    }
  };
  await Promise.all(options.endpoints.map(heat));
}

class PlanRun {
  readonly #options: CoordinatorOptions;
  readonly #repetitions: number;
  /** At the least: which rungs are repeated shows as they run. */
  #total: number;
  #done = 0;
  readonly #measured = new Map<string, CellResult[]>();
  readonly #tries = new Map<string, number>();
  readonly #failures: FailedCell[] = [];

  constructor({ rungs, loadRepetitions }: Plan, options: CoordinatorOptions) {
    this.#options = options;
    this.#repetitions = loadRepetitions;
    this.#total = options.endpoints.length * 3 * (3 * rungs.length + loadRepetitions - 1);
  }

  async measure(cell: PlannedCell): Promise<void> {
    const { endpoints, signal, onProgress } = this.#options;
    const endpoint = endpoints.find(({ provider }) => provider === cell.provider)!;
    this.#total = Math.max(this.#total, this.#done + 1);
    onProgress?.({ done: this.#done, total: this.#total, cell });
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

  /** The best rung so far of each layout's load, where it lacks repetitions. A cell that fails uses up its tries. */
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

  outcome(): PlanOutcome {
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

function problemOf(status: number, body: unknown): string {
  const problem = problemSchema.safeParse(body);
  const text = problem.success ? (problem.data.detail ?? problem.data.title) : undefined;
  return `HTTP ${status}${text === undefined ? '' : `: ${text}`}`;
}

function nameOf(provider: Provider, { layout, workload, concurrency }: PlannedCell['request']): string {
  return [provider, layout, workload, concurrency].join(' ');
}

/** On one line, with the cause: `fetch failed` alone tells nobody anything. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${text}${cause}`.replaceAll(/\s+/g, ' ');
}
