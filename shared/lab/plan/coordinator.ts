// Runs a plan's cells in functions, one after another. A failed run is kept with its error, and the
// others go on.
import { groupsOf, type Item, leftOutOf, type Plan, REPETITIONS_MAX } from './plan.ts';
import { type Assigned, Datasets } from './datasets.ts';
import { type Endpoint, messageOf, NoAnswerError, RefusedError, runPart, type Sending } from './endpoint.ts';
import {
  type CellRun,
  type FailedRun,
  mergeParts,
  type PlanEvent,
  type PlanOutcome,
  type SearchRun,
} from './outcome.ts';
import { judged, searchRate, tryMsOf } from './rate-search.ts';
import type { CellRequest, CellResult, Coordinates } from '../load/cell.ts';
import { scramble32 } from '../kit/random.ts';
import { MIXES } from '../kit/dimensions.ts';

export interface CoordinatorOptions {
  readonly endpoints: readonly Endpoint[];
  /** Ends the run: the request under way is given up, and what the run made is removed. */
  readonly signal: AbortSignal;
  /** The services end with the run, and their data with them: nothing is removed. */
  readonly endsWithRun?: boolean;
  readonly onEvent?: (event: PlanEvent) => void;
  readonly fetch?: typeof fetch;
}

/**
 * After so many runs in a row without an answer, or refused, an endpoint is given up. It is not one
 * alone, because a new key takes a while to reach every instance.
 */
const RUNS_IN_VAIN_MAX = 3;

/**
 * `runId` (a letter, then at most 15 letters and digits) names the datasets, which are removed
 * within three minutes at the end. Never rejects.
 */
export async function runPlan(plan: Plan, runId: string, options: CoordinatorOptions): Promise<PlanOutcome> {
  const providers = options.endpoints.map(({ provider }) => provider);
  const run = new PlanRun(plan, runId, options);
  const groups = groupsOf(plan, providers);
  const total = groups.flat().length;
  let endedEarly: string | null = null;
  try {
    for (const group of groups) await allEnded(group.map((item) => run.do(item, total)));
  } catch (error) {
    endedEarly = messageOf(error);
  }
  return { ...run.gathered, leftOut: leftOutOf(plan, providers), leftovers: await run.removeAll(), endedEarly };
}

/** Waits for all of them, then rejects as the first that failed. */
async function allEnded(runs: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(runs);
  await Promise.all(runs);
}

interface Measured {
  readonly cell: Coordinates;
  readonly endpoint: Endpoint;
  /** Operations and arrivals are drawn from it and the plan's seed. */
  readonly draw: number;
  readonly durationMs: number;
}

class PlanRun {
  readonly gathered = { runs: [] as CellRun[], searches: [] as SearchRun[], failures: [] as FailedRun[] };
  readonly #plan: Plan;
  readonly #options: CoordinatorOptions;
  readonly #fetch: typeof fetch;
  readonly #datasets: Datasets;
  /** Runs in a row that had no answer or were refused, and how the last of them failed. */
  readonly #runsInVain = new Map<Endpoint, { count: number; error: NoAnswerError | RefusedError }>();
  /** Endpoints that may hold a dataset, which one that refused everything does not. */
  readonly #reached = new Set<Endpoint>();
  #done = 0;

  constructor(plan: Plan, runId: string, options: CoordinatorOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#fetch = options.fetch ?? fetch;
    this.#datasets = new Datasets(plan, runId, this.#fetch, (event) => this.#tell(event));
  }

  /** Rejects with the signal's reason alone. */
  async do(item: Item, total: number): Promise<void> {
    const { signal } = this.#options;
    signal.throwIfAborted();
    const { cell, repetition } = item;
    this.#tell({ kind: 'begun', done: this.#done, total, cell, repetition });
    const endpoint = this.#options.endpoints.find(({ provider }) => provider === cell.provider)!;
    try {
      this.#throwIfGivenUp(endpoint);
      if (item.kind === 'run') await this.#run(item, endpoint, total);
      else await this.#search(item, endpoint, total);
      this.#runsInVain.delete(endpoint);
      this.#reached.add(endpoint);
    } catch (error) {
      if (!(error instanceof RefusedError)) this.#reached.add(endpoint);
      signal.throwIfAborted();
      this.#fail(item, endpoint, error, total);
    }
  }

  async removeAll(): ReturnType<Datasets['removeAll']> {
    if (this.#options.endsWithRun === true) return [];
    this.#tell({ kind: 'removing', what: 'the data of the comparison' });
    return await this.#datasets.removeAll(this.#reached);
  }

  async #run({ cell, repetition }: Item, endpoint: Endpoint, total: number): Promise<void> {
    const { durationMs } = this.#plan;
    const run = { cell, repetition, parts: await this.#measure({ cell, draw: repetition, endpoint, durationMs }) };
    this.gathered.runs.push(run);
    this.#tell({ kind: 'ended', done: ++this.#done, total, run });
  }

  async #search({ cell, repetition }: Item, endpoint: Endpoint, total: number): Promise<void> {
    const search = this.#plan.search!;
    let draw = repetition;
    const found = await searchRate(search, async (ratePerSecond) => {
      // Each try has other operations and arrivals: what confirms a rate must not repeat the luck
      // that found it.
      draw += REPETITIONS_MAX;
      const durationMs = tryMsOf(search, ratePerSecond, this.#plan.durationMs);
      const parts = await this.#measure({ cell: { ...cell, ratePerSecond }, draw, endpoint, durationMs });
      return judged(search, ratePerSecond, mergeParts(parts));
    });
    const ended = { cell, repetition, ...found };
    this.gathered.searches.push(ended);
    this.#tell({ kind: 'searched', done: ++this.#done, total, search: ended });
  }

  async #measure(measured: Measured): Promise<CellRun['parts']> {
    const { cell, endpoint } = measured;
    const { signal } = this.#options;
    const assigned = await this.#datasets.take(cell, endpoint, signal);
    // The dataset was loaded there, whatever becomes of the cell.
    if (cell.workload !== 'load') this.#reached.add(endpoint);
    try {
      return await runOnAll(requestsOf(this.#plan, measured, assigned), { endpoint, signal, fetch: this.#fetch });
    } finally {
      // Otherwise the records of a load would be billed until the end of the run.
      if (cell.workload === 'load' && !signal.aborted && this.#options.endsWithRun !== true)
        await this.#datasets.drop(assigned.request.dataset);
    }
  }

  #throwIfGivenUp(endpoint: Endpoint): void {
    const vain = this.#runsInVain.get(endpoint);
    if (vain === undefined || vain.count < RUNS_IN_VAIN_MAX) return;
    const { error } = vain;
    const [Kind, what] =
      error instanceof RefusedError ? [RefusedError, 'were refused'] : [NoAnswerError, 'had no answer'];
    throw new Kind(`not tried: the ${RUNS_IN_VAIN_MAX} runs before ${what}, the last with: ${messageOf(error)}`);
  }

  #fail({ cell, repetition }: Item, endpoint: Endpoint, error: unknown, total: number): void {
    const count = this.#runsInVain.get(endpoint)?.count ?? 0;
    if (!(error instanceof NoAnswerError || error instanceof RefusedError)) this.#runsInVain.delete(endpoint);
    else if (count < RUNS_IN_VAIN_MAX) this.#runsInVain.set(endpoint, { count: count + 1, error });
    const failure = { ...cell, repetition, error: messageOf(error) };
    this.gathered.failures.push(failure);
    this.#tell({ kind: 'failed', done: ++this.#done, total, failure });
  }

  #tell(event: PlanEvent): void {
    this.#options.onEvent?.(event);
  }
}

/** Time for requests to arrive and tables to open, before several instances warm up. */
const LEAD_MS = 1_500;

/** Of each instance, whose windows open together. */
function requestsOf(plan: Plan, { cell, draw, durationMs }: Measured, assigned: Assigned): CellRequest[] {
  const { workload, instances, callers, ratePerSecond } = cell;
  const warmup = warmupOf(cell, plan.warmup);
  const windowAtMs = instances === 1 ? null : Date.now() + LEAD_MS + warmup.mostMs;
  return assigned.insertFrom.map((insertFrom, index) => ({
    ...assigned.request,
    workload,
    keys: plan.keys,
    callers,
    ratePerSecond: ratePerSecond === null ? null : ratePerSecond / instances,
    arrivals: plan.arrivals,
    durationMs,
    warmup,
    windowAtMs,
    // Other operations in every repetition, the same ones in every layout.
    drawSeed: scramble32(plan.seed ^ scramble32(draw)),
    insertFrom,
    part: { index, count: instances },
  }));
}

const WRITES: ReadonlySet<string> = new Set(['update', 'insert', 'modify']);

function warmupOf(
  { instances, workload }: Coordinates,
  { leastMs, mostMs, severalWritersMs }: Plan['warmup'],
): CellRequest['warmup'] {
  const isTuned = instances > 1 && Object.keys(MIXES[workload].shares).some((verb) => WRITES.has(verb));
  const tuningMs = isTuned ? severalWritersMs : 0;
  return { leastMs: Math.max(leastMs, tuningMs), mostMs: Math.max(mostMs, tuningMs) };
}

/** Rejects when all have ended, with one line on those that failed, or the signal's reason. */
async function runOnAll(requests: readonly CellRequest[], sending: Omit<Sending, 'instance'>): Promise<CellResult[]> {
  const { signal } = sending;
  const settled = await Promise.allSettled(
    requests.map((request, instance) => runPart(request, { ...sending, instance })),
  );
  signal.throwIfAborted();
  const failed = settled.flatMap((one, instance) =>
    one.status === 'rejected' ? [{ instance, reason: one.reason as unknown }] : [],
  );
  if (failed.length === 0) return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [first] = failed;
  const message = messageOf(first!.reason);
  const who = `${failed.length} of ${requests.length} instances failed, number ${first!.instance + 1} with: `;
  const text = requests.length === 1 ? message : who + message;
  const Kind = [NoAnswerError, RefusedError].find((kind) => failed.every(({ reason }) => reason instanceof kind));
  throw new (Kind ?? Error)(text);
}
