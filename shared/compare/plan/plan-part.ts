// A part of a plan: what one machine drives where several drive the plan together. Nobody tells the machines when: each knows the plan, its own number and
// when all of it begins, so each knows when every window opens. What it measured stays raw, for merge-plan-parts.ts.
import type { CellResult } from '../cell/cell.ts';
import { DRAIN_MS } from '../cell/phases.ts';
import { type Item, itemsOf } from './cells.ts';
import { type Assigned, Datasets } from './datasets.ts';
import { type Endpoint, messageOf, runPart, type Sending } from './endpoint.ts';
import { LEAD_MS, requestOf } from './fan-out.ts';
import type { FailedRun, Leftover, PlanEvent } from './outcome.ts';
import type { Plan } from './plan.ts';
import type { PlanPart } from './part-file.ts';

export interface PlanPartOptions {
  readonly plan: Plan;
  readonly part: PlanPart['part'];
  /** Milliseconds since 1970: when the first warm-up begins. By then the first part has loaded what the plan works on, which it begins at once. */
  readonly startMs: number;
  /** The instance that generates this part's load. */
  readonly endpoint: Endpoint;
  /** Ends the part, which then has what there is. */
  readonly signal: AbortSignal;
  readonly onEvent?: (event: PlanEvent) => void;
  readonly fetch: typeof fetch;
  readonly clock: PartClock;
}

/** A clock that all machines agree on, and a wait that ends with its time or with the signal. */
export interface PartClock {
  wallMs(): number;
  watch(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Between two runs: the last replies come in, and the next request goes out. */
const SPARE_MS = 2_000;

/** A closed loop's window may grow so far without making its part late for the next. */
const GROWTH = 3;

/** Parts other than the first look so long before the start whether its datasets are there. */
const LOOK_MS = 5_000;

/** A run of the plan, and when its window opens on all machines, in milliseconds since 1970. */
export interface Slot extends Item {
  readonly opensAtMs: number;
}

/** The plan that several machines drive: each of its cells has them as instances. Throws a TypeError for one that they cannot. */
function planOfParts(plan: Plan, count: number): Plan {
  if (plan.search !== null)
    throw new TypeError('parts cannot search: the next rate follows from the answers of all, and parts do not talk');
  return { ...plan, instances: [count] };
}

/** When each run of the plan takes place. Pure: every part computes the same. */
export function slotsOf(plan: Plan, provider: PlanPart['provider'], startMs: number): Slot[] {
  let beginsAtMs = startMs;
  return itemsOf(plan, [provider]).map((item) => {
    const opensAtMs = beginsAtMs + LEAD_MS + plan.warmup.mostMs;
    beginsAtMs = opensAtMs + (item.cell.ratePerSecond === null ? GROWTH : 1) * plan.durationMs + SPARE_MS;
    return { ...item, opensAtMs };
  });
}

/** Runs one part. Never rejects for what fails on the way: that stands in the part. Throws a TypeError where the plan cannot be driven in parts. */
export async function runPlanPart(options: PlanPartOptions): Promise<PlanPart> {
  const { part, startMs, endpoint, clock } = options;
  const plan = planOfParts(options.plan, part.count);
  const running = new RunningPart({ ...options, plan });
  let endedEarly: string | null = null;
  try {
    await running.load();
    await running.runAll();
  } catch (error) {
    endedEarly = messageOf(error);
  }
  const leftovers = await running.removeAll();
  return {
    kind: 'stowage-part',
    schemaVersion: 1,
    provider: endpoint.provider,
    part,
    startAt: new Date(startMs).toISOString(),
    endedAt: new Date(clock.wallMs()).toISOString(),
    plan,
    runs: running.runs,
    failures: running.failures,
    leftovers,
    endedEarly,
  };
}

/** Names of the datasets of all parts begin with it. */
export function runIdOf(startMs: number): string {
  return `p${startMs.toString(36)}`;
}

class RunningPart {
  readonly runs: PlanPart['runs'] = [];
  readonly failures: FailedRun[] = [];
  readonly #options: PlanPartOptions;
  readonly #datasets: Datasets;
  readonly #slots: readonly (Slot & { readonly assigned: Assigned })[];
  readonly #sending: Sending;

  constructor(options: PlanPartOptions) {
    const { plan, endpoint, startMs, signal } = options;
    this.#options = options;
    this.#sending = { endpoint, instance: 0, signal, fetch: options.fetch };
    this.#datasets = new Datasets(plan, runIdOf(startMs), () => startMs);
    this.#slots = slotsOf(plan, endpoint.provider, startMs).map((slot) => ({
      ...slot,
      assigned: this.#datasets.assign(slot.cell, endpoint),
    }));
  }

  /** The first part loads, before the start; the others find it there. What cannot be loaded fails in its runs. */
  async load(): Promise<void> {
    const { part, startMs, signal } = this.#options;
    if (part.index > 0) await this.#until(startMs - LOOK_MS);
    for (const assigned of new Map(
      this.#slots.map((slot) => [slot.assigned.request.dataset, slot.assigned]),
    ).values()) {
      try {
        await this.#datasets.load(assigned, this.#sending, (what) => this.#tell({ kind: 'preparing', what }));
      } catch {
        signal.throwIfAborted();
      }
    }
  }

  /** Rejects with the signal's reason alone. */
  async runAll(): Promise<void> {
    const total = this.#slots.length;
    for (const [done, slot] of this.#slots.entries()) {
      const { cell, repetition } = slot;
      this.#tell({ kind: 'begun', done, total, cell, repetition });
      try {
        const result = await this.#run(slot);
        this.runs.push({ cell, repetition, result });
        this.#tell({ kind: 'ended', done: done + 1, total, run: { cell, repetition, parts: [result] } });
      } catch (error) {
        this.#options.signal.throwIfAborted();
        const failure = { ...cell, repetition, error: messageOf(error) };
        this.failures.push(failure);
        this.#tell({ kind: 'failed', done: done + 1, total, failure });
      }
    }
  }

  async #run(slot: Slot & { readonly assigned: Assigned }): Promise<CellResult> {
    const { plan, part, clock } = this.#options;
    const { warmup, durationMs } = plan;
    await this.#until(slot.opensAtMs - warmup.mostMs - LEAD_MS);
    const lateMs = clock.wallMs() - (slot.opensAtMs - warmup.leastMs);
    if (lateMs > 0) throw new Error(`came ${Math.ceil(lateMs)} ms too late for its warm-up`);
    const request = requestOf({ ...slot, plan, durationMs }, part.index, slot.opensAtMs);
    return await runPart(request, this.#sending);
  }

  /** By the first part, when the others have ended too. */
  async removeAll(): Promise<Leftover[]> {
    const { part, plan, signal, clock } = this.#options;
    if (part.index > 0) return [];
    const endMs = (this.#slots.at(-1)?.opensAtMs ?? 0) + GROWTH * plan.durationMs + DRAIN_MS;
    if (!signal.aborted) await clock.watch(Math.max(0, endMs - clock.wallMs()), signal);
    this.#tell({ kind: 'removing', what: 'what the comparison made' });
    const { fetch, endpoint } = this.#options;
    return await this.#datasets.removeAll(fetch, new Set([endpoint]));
  }

  async #until(atMs: number): Promise<void> {
    const { clock, signal } = this.#options;
    const leftMs = atMs - clock.wallMs();
    if (leftMs > 0) await clock.watch(leftMs, signal);
    signal.throwIfAborted();
  }

  #tell(event: PlanEvent): void {
    this.#options.onEvent?.(event);
  }
}
