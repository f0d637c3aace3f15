// What callers saw: a warm-up, a measured window, a drain. Throughput counts replies within the window, latency every operation that began within
// it: so neither is flattered by slow ones.
import { type Histogram, newHistogram, recordLatency } from '../../kit/histogram.ts';
import type { Scheduler } from '../time/scheduler.ts';

/** When the warm-up and the window end: after so much virtual time, or so many operations, whichever is first. */
export interface WindowOptions {
  readonly warmupMs: number;
  readonly warmupOperationsMax: number;
  readonly windowMs: number;
  readonly operationsMax: number;
}

/** Whoever counts what is spent within the window. */
export interface WindowListener {
  readonly opened: () => void;
  readonly closed: () => void;
}

/** An operation under way. */
export interface UnderWay {
  readonly caller: number;
  /** When it was begun; of an arrival, when it was due. */
  readonly begunMs: number;
}

export class Window {
  readonly histogram: Histogram = newHistogram();
  readonly errors: Record<string, number> = {};
  /** Operations answered within the window. */
  operations = 0;
  warmupOperations = 0;
  warmupErrors = 0;
  /** Sum of the latencies of the operations answered within the window. */
  latencyMs = 0;
  /** Sum of the times that operations were under way within the window: of those that began before or ended after it, the part within. */
  underWayMs = 0;
  openedMs = Infinity;
  closedMs = Infinity;
  /** Operations of each caller answered within the window. */
  readonly byCaller: Uint32Array;
  readonly #underWay = new Set<UnderWay>();
  readonly #scheduler: Scheduler;
  readonly #options: WindowOptions & { readonly listener: WindowListener };

  constructor(scheduler: Scheduler, callers: number, options: WindowOptions & { readonly listener: WindowListener }) {
    this.#scheduler = scheduler;
    this.#options = options;
    this.byCaller = new Uint32Array(callers);
    scheduler.at(scheduler.nowMs + options.warmupMs, () => this.#open());
  }

  get isOver(): boolean {
    return this.closedMs < Infinity;
  }

  /** Operations that have not ended. */
  get unfinished(): number {
    return this.#underWay.size;
  }

  begin(caller: number, begunMs: number): UnderWay {
    const operation = { caller, begunMs };
    this.#underWay.add(operation);
    return operation;
  }

  /** The operation has ended: with an error, if one is given. */
  end(operation: UnderWay, error?: unknown): void {
    const { caller, begunMs } = operation;
    const nowMs = this.#scheduler.nowMs;
    this.#underWay.delete(operation);
    this.#countTime(begunMs, error === undefined);
    if (error !== undefined) this.#countError(error);
    if (this.isOver) return;
    if (nowMs < this.openedMs) {
      this.warmupOperations += 1;
      if (this.warmupOperations >= this.#options.warmupOperationsMax) this.#open();
    } else if (error === undefined) {
      this.operations += 1;
      this.latencyMs += nowMs - begunMs;
      this.byCaller[caller]! += 1;
      if (this.operations >= this.#options.operationsMax) this.#close();
    }
  }

  /** Nobody waits any longer: what has not ended took at least as long as until now, and would flatter the latencies if it were left out. */
  cut(): void {
    for (const { begunMs } of this.#underWay) this.#countTime(begunMs, true);
  }

  #countTime(begunMs: number, isTimed: boolean): void {
    const nowMs = this.#scheduler.nowMs;
    this.underWayMs += Math.max(0, Math.min(nowMs, this.closedMs) - Math.max(begunMs, this.openedMs));
    const isWithin = begunMs >= this.openedMs && begunMs < this.closedMs;
    // Whoever had no answer from before the window to its end is the one who starves.
    const isThroughout = begunMs < this.openedMs && nowMs > this.closedMs;
    if ((isWithin || isThroughout) && isTimed) recordLatency(this.histogram, nowMs - begunMs);
  }

  #open(): void {
    if (this.openedMs < Infinity) return;
    this.openedMs = this.#scheduler.nowMs;
    this.#options.listener.opened();
    this.#scheduler.at(this.openedMs + this.#options.windowMs, () => this.#close());
  }

  #close(): void {
    if (this.isOver) return;
    this.closedMs = this.#scheduler.nowMs;
    this.#options.listener.closed();
  }

  #countError(error: unknown): void {
    if (this.openedMs === Infinity) {
      this.warmupErrors += 1;
      return;
    }
    const code = codeOf(error);
    this.errors[code] = (this.errors[code] ?? 0) + 1;
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code, failure } = error as { code?: unknown; failure?: unknown };
  const named = code ?? failure;
  return typeof named === 'string' ? named : error.name;
}
