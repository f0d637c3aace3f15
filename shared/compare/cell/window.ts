// The closed loop of a cell: callers under a p-limit, a warm-up, a measured window, a bounded drain.
// Throughput counts replies that arrived within the window, latency every operation that began within it: so neither is flattered by slow ones.
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Runtime } from '../../store/index.ts';
import { type Histogram, newHistogram, recordLatency } from './histogram.ts';
import type { Call, Unit } from './layout-clients.ts';

/** The load, and how long it lasts. */
export interface WindowOptions {
  readonly concurrency: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  /** How long operations in flight at the end are waited for. */
  readonly drainMs: number;
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
}

/** What callers saw; the fields are those of a cell's result (cell.ts). */
export interface WindowResult {
  readonly durationMs: number;
  readonly records: number;
  readonly recordsTotal: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly warmupErrors: number;
  readonly unfinished: number;
  readonly histogram: Histogram;
}

/**
 * The window ends at its length where each caller has had two replies on average, at three times its length where each has had one, and at ten
 * times whatever came. With fewer replies the count would depend on where the window happens to end: 32 calls of 500 records end together.
 */
const GROWTH = [
  { factor: 1, repliesPerCaller: 2 },
  { factor: 3, repliesPerCaller: 1 },
  { factor: 10, repliesPerCaller: 0 },
] as const;

/** No window is longer than its wanted length times this. */
export const WINDOW_GROWTH_MAX = 10;

/** What is in flight when the signal aborts is waited for no longer than this. */
const ABORTED_DRAIN_MS = 3_000;

/** Runs calls until the window ends. Rejects only when the signal aborts, and then when nothing is in flight any more. */
export async function runWindow(nextCall: () => Call, options: WindowOptions): Promise<WindowResult> {
  const run = new Run(options);
  const limit = pLimit(options.concurrency);
  const caller = async (): Promise<void> => {
    while (run.isOpen()) await limit(() => run.make(nextCall()));
  };
  const callers = Promise.all(Array.from({ length: options.concurrency }, caller));
  const over = new AbortController();
  await Promise.race([callers, run.atTheLatest(AbortSignal.any([over.signal, options.signal]))]);
  over.abort();
  if (options.signal.aborted) await Promise.race([callers, options.runtime.watch(ABORTED_DRAIN_MS)]);
  options.signal.throwIfAborted();
  return run.result();
}

class Run {
  readonly #options: WindowOptions;
  readonly #startMs: number;
  readonly #histogram = newHistogram();
  readonly #errors: Record<string, number> = {};
  #inFlight = 0;
  #records = 0;
  #recordsTotal = 0;
  #warmupErrors = 0;
  /** When the window closed; undefined while it is open. */
  #closedMs: number | undefined;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#startMs = options.runtime.monotonicMs() + options.warmupMs;
  }

  /** Looks at the clock; the window ends when its time is over and its callers have had their replies, or when it may grow no further. */
  isOpen(): boolean {
    if (this.#closedMs !== undefined) return false;
    const now = this.#options.runtime.monotonicMs();
    const repliesPerCaller = this.#histogram.totalCount / this.#options.concurrency;
    const grown = (now - this.#startMs) / this.#options.durationMs;
    const isOver = GROWTH.some((step) => grown >= step.factor && repliesPerCaller >= step.repliesPerCaller);
    if (isOver || this.#options.signal.aborted) this.close(now);
    return this.#closedMs === undefined;
  }

  close(now = this.#options.runtime.monotonicMs()): void {
    this.#closedMs ??= now;
  }

  /** Closes the window when it may grow no further, and resolves when the drain is over too: callers may hang. */
  async atTheLatest(signal: AbortSignal): Promise<void> {
    const { warmupMs, durationMs, drainMs, runtime } = this.#options;
    await runtime.watch(warmupMs + WINDOW_GROWTH_MAX * durationMs, signal);
    this.close();
    await runtime.watch(drainMs, signal);
  }

  async make(call: Call): Promise<void> {
    for (const group of call) {
      if (!this.isOpen()) return;
      await Promise.all(group.map((unit) => this.#send(unit)));
    }
  }

  async #send(unit: Unit): Promise<void> {
    const { runtime } = this.#options;
    const sentMs = runtime.monotonicMs();
    this.#inFlight++;
    let errors: readonly unknown[];
    try {
      errors = await unit.send();
    } catch (error) {
      errors = Array.from({ length: unit.records }, () => error);
    }
    this.#inFlight--;
    this.#reply(unit.records, errors, sentMs, runtime.monotonicMs());
    // A provider that refuses at once would otherwise keep this loop from ever letting timers and sockets in.
    if (errors.length > 0) await yieldToEvents();
  }

  #reply(records: number, errors: readonly unknown[], sentMs: number, now: number): void {
    const replied = records - errors.length;
    this.#recordsTotal += replied;
    if (now < this.#startMs) {
      this.#warmupErrors += errors.length;
      return;
    }
    for (const error of errors) {
      const code = errorCode(error);
      this.#errors[code] = (this.#errors[code] ?? 0) + 1;
    }
    if (replied === 0) return;
    if (sentMs >= this.#startMs) recordLatency(this.#histogram, now - sentMs);
    if (this.#closedMs !== undefined) return;
    this.#records += replied;
  }

  result(): WindowResult {
    const closedMs = this.#closedMs ?? this.#options.runtime.monotonicMs();
    return {
      durationMs: closedMs - this.#startMs,
      records: this.#records,
      recordsTotal: this.#recordsTotal,
      errors: this.#errors,
      warmupErrors: this.#warmupErrors,
      unfinished: this.#inFlight,
      histogram: this.#histogram,
    };
  }
}

/** The error's own code, its name if it has none. */
function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.name;
}
