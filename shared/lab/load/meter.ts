// Counts what callers saw: throughput, latencies, errors.
import { type Histogram, newHistogram, recordLatency } from '../kit/histogram.ts';
import type { Phases } from './phases.ts';

/** An operation under way, in milliseconds of the monotonic clock. */
export interface UnderWay {
  /** When it was due to be sent: its latency counts from then. */
  readonly dueMs: number;
  readonly sentMs: number;
  readonly records: number;
}

export class Meter {
  readonly histogram: Histogram = newHistogram();
  readonly errors: Record<string, number> = {};
  warmupErrors = 0;
  /** Answered within the window; operations over its edge count by their share of time within. */
  records = 0;
  recordsFirstHalf = 0;
  recordsTotal = 0;
  firstOperationMs: number | null = null;
  behindMsMax = 0;
  /** Operations without a reply at the end, or never sent. */
  unfinished = 0;
  readonly #phases: Phases;
  readonly #underWay = new Set<UnderWay>();
  #hasFirst = false;

  constructor(phases: Phases) {
    this.#phases = phases;
  }

  begin(dueMs: number, sentMs: number, records: number): UnderWay {
    const operation = { dueMs, sentMs, records };
    this.#underWay.add(operation);
    if (dueMs >= this.#phases.openedMs) this.behindMsMax = Math.max(this.behindMsMax, sentMs - dueMs);
    return operation;
  }

  /** Counts a reply; `errors` has one for each record that failed. */
  end(operation: UnderWay, errors: readonly unknown[], nowMs: number): void {
    this.#underWay.delete(operation);
    const replied = operation.records - errors.length;
    const latencyMs = nowMs - operation.dueMs;
    if (!this.#hasFirst && replied > 0) this.firstOperationMs = latencyMs;
    this.#hasFirst = true;
    this.recordsTotal += replied;
    if (nowMs < this.#phases.openedMs) this.warmupErrors += errors.length;
    else this.#countWithin(operation, replied, errors, nowMs);
    if (replied > 0) this.#phases.replied(nowMs);
  }

  /** Ends the count: operations in flight are unfinished, with their age as latency. */
  cut(nowMs: number): void {
    for (const { dueMs } of this.#underWay) this.#time(dueMs, nowMs);
    this.unfinished += this.#underWay.size;
  }

  /** Counts a call that was due within the window, but not sent before it closed. */
  skip(dueMs: number, nowMs: number): void {
    if (!this.#isWithin(dueMs)) return;
    this.unfinished += 1;
    recordLatency(this.histogram, nowMs - dueMs);
  }

  #countWithin(operation: UnderWay, replied: number, errors: readonly unknown[], nowMs: number): void {
    for (const error of errors) {
      const code = errorCode(error);
      this.errors[code] = (this.errors[code] ?? 0) + 1;
    }
    if (replied === 0) return;
    const { openedMs, closesMs } = this.#phases;
    this.records += replied * shareWithin(operation.sentMs, nowMs, openedMs, closesMs);
    this.recordsFirstHalf += replied * shareWithin(operation.sentMs, nowMs, openedMs, (openedMs + closesMs) / 2);
    this.#time(operation.dueMs, nowMs);
  }

  #time(dueMs: number, nowMs: number): void {
    // An operation in flight from before the window until after it starved, so it counts too.
    const isThroughout = dueMs < this.#phases.openedMs && nowMs > this.#phases.closedMs;
    if (this.#isWithin(dueMs) || isThroughout) recordLatency(this.histogram, nowMs - dueMs);
  }

  #isWithin(dueMs: number): boolean {
    return dueMs >= this.#phases.openedMs && dueMs < this.#phases.closedMs;
  }
}

/** Counted whole, slow operations would make the rate depend on the window's edges. */
function shareWithin(sentMs: number, nowMs: number, openedMs: number, closesMs: number): number {
  if (nowMs <= sentMs) return nowMs <= closesMs ? 1 : 0;
  return Math.max(0, Math.min(nowMs, closesMs) - Math.max(sentMs, openedMs)) / (nowMs - sentMs);
}

/** The error's own code, its name if it has none. */
function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.name;
}
