// The load of a cell, closed or open loop, through warm-up, window and a bounded drain, and what
// its callers saw.
import type { Runtime } from '../../store/index.ts';
import type { CellRequest, CellResult } from './cell.ts';
import { type Histogram, newHistogram, recordLatency } from '../kit/histogram.ts';
import type { Call, Unit } from '../work/layout-clients.ts';
import { closedLoop, gapsOf, openLoop } from './loops.ts';
import { Phases, type PhasesOptions } from './phases.ts';
import type { Ramp } from './dataset.ts';
import { scramble32, seededRandom } from '../kit/random.ts';

export interface WindowOptions
  extends Omit<PhasesOptions, 'runtime'>, Pick<CellRequest, 'arrivals' | 'drawSeed' | 'part'> {
  /** The longest wait for operations that are in flight at the end. */
  readonly drainMs: number;
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
  /** Holds operations back. Default: nothing does. */
  readonly ramp?: Ramp | undefined;
}

type Fields =
  'durationMs' | 'records' | 'recordsFirstHalf' | 'recordsTotal' | 'errors' | 'unfinished' | 'firstOperationMs';

/** Figures as callers saw them; the fields are those of a cell's result (cell.ts). */
export interface WindowResult extends Pick<CellResult, Fields | 'warmup' | 'openedAtMs' | 'behindMsMax'> {
  readonly histogram: Histogram;
}

/** Draws arrivals independently of the operations, which come from the same seed. */
const ARRIVALS_SALT = 0x5a17_0bad;

/** Longest wait for calls in flight when the signal aborts. */
const ABORTED_DRAIN_MS = 3_000;

/** Rejects only when the signal aborts, and then when nothing is in flight any more. */
export async function runWindow(nextCall: () => Call, options: WindowOptions): Promise<WindowResult> {
  const run = new Run(nextCall, options);
  const { ratePerSecond, arrivals, drawSeed, part, signal, runtime } = options;
  const random = seededRandom(scramble32(scramble32(drawSeed ^ ARRIVALS_SALT) + part.index));
  const callers = ratePerSecond === null ? run.closedLoop() : run.openLoop(gapsOf(ratePerSecond, arrivals, random));
  const over = new AbortController();
  await Promise.race([callers, run.atTheLatest(AbortSignal.any([over.signal, signal]))]);
  over.abort();
  if (signal.aborted) await Promise.race([callers, runtime.watch(ABORTED_DRAIN_MS)]);
  signal.throwIfAborted();
  return run.result();
}

class Run {
  readonly #nextCall: () => Call;
  readonly #options: WindowOptions;
  readonly #phases: Phases;
  readonly #meter: Meter;
  readonly #wallStartMs: number;

  constructor(nextCall: () => Call, options: WindowOptions) {
    this.#nextCall = nextCall;
    this.#options = options;
    this.#wallStartMs = options.runtime.wallMs();
    this.#phases = new Phases(options);
    this.#meter = new Meter(this.#phases);
  }

  closedLoop(): Promise<void> {
    const isOver = (): boolean => !this.#isOpen();
    return closedLoop(this.#options.callers, isOver, () => this.#make(undefined));
  }

  openLoop(gapMs: () => number): Promise<void> {
    return openLoop({
      isOver: () => !this.#isOpen(),
      startMs: this.#phases.startMs,
      gapMs,
      until: (dueMs) => this.#until(dueMs),
      inFlightMax: this.#options.callers,
      call: (dueMs) => this.#makeDue(dueMs),
    });
  }

  async #makeDue(dueMs: number): Promise<void> {
    if (this.#isOpen()) await this.#make(dueMs);
    else this.#meter.skip(dueMs, this.#options.runtime.monotonicMs());
  }

  /** Resolves at that moment, or earlier when the window closes. */
  async #until(dueMs: number): Promise<void> {
    const { runtime, signal } = this.#options;
    for (;;) {
      const waitMs = Math.min(dueMs, this.#phases.closedMs) - runtime.monotonicMs();
      if (waitMs <= 0 || signal.aborted) return;
      await runtime.watch(Math.min(waitMs, this.#phases.tickMs), signal);
      this.#phases.update();
    }
  }

  #isOpen(): boolean {
    this.#phases.update();
    if (this.#options.signal.aborted) this.#phases.close();
    return this.#phases.closedMs === Infinity;
  }

  /** Closes the window in time even if callers hang. Resolves when the drain is over. */
  async atTheLatest(signal: AbortSignal): Promise<void> {
    const { drainMs, runtime } = this.#options;
    while (!signal.aborted && this.#isOpen()) await runtime.watch(this.#phases.tickMs, signal);
    this.#phases.close();
    await runtime.watch(drainMs, signal);
  }

  /** `dueMs`: when the call's first units were due; undefined: when they are sent. */
  async #make(dueMs: number | undefined): Promise<void> {
    let firstDueMs = dueMs;
    for (const group of this.#nextCall()) {
      const { ramp, signal } = this.#options;
      if (ramp !== undefined) await ramp.turn(() => !this.#isOpen(), signal);
      if (!this.#isOpen()) return;
      const [unit] = group;
      if (group.length === 1) await this.#send(unit!, firstDueMs);
      else await Promise.all(group.map((one) => this.#send(one, firstDueMs)));
      firstDueMs = undefined;
    }
  }

  async #send(unit: Unit, dueMs: number | undefined): Promise<void> {
    const { runtime } = this.#options;
    const sentMs = runtime.monotonicMs();
    const operation = this.#meter.begin(dueMs ?? sentMs, sentMs, unit.records);
    let errors: readonly unknown[];
    try {
      errors = await unit.send();
    } catch (error) {
      errors = Array.from({ length: unit.records }, () => error);
    }
    this.#phases.update();
    this.#meter.end(operation, errors, runtime.monotonicMs());
    // A provider that refuses at once would otherwise keep this loop from ever letting timers and
    // sockets in.
    if (errors.length > 0) await runtime.nextTurn();
  }

  result(): WindowResult {
    const { runtime, ratePerSecond } = this.#options;
    const { startMs, openedMs, closedMs, steadiness } = this.#phases;
    const meter = this.#meter;
    meter.cut(runtime.monotonicMs());
    return {
      warmup: { durationMs: openedMs - startMs, steadiness, errors: meter.warmupErrors },
      openedAtMs: this.#wallStartMs + openedMs - startMs,
      durationMs: closedMs - openedMs,
      ...meter.counts,
      behindMsMax: ratePerSecond === null ? null : meter.behindMsMax,
      histogram: meter.histogram,
    };
  }
}

/** An operation under way, in milliseconds of the monotonic clock. */
interface UnderWay {
  /** When it was due to be sent: its latency counts from then. */
  readonly dueMs: number;
  readonly sentMs: number;
  readonly records: number;
}

class Meter {
  readonly histogram: Histogram = newHistogram();
  readonly counts = {
    /** Answered within the window; operations over its edge count by their share of time within. */
    records: 0,
    recordsFirstHalf: 0,
    recordsTotal: 0,
    errors: {} as Record<string, number>,
    /** Operations without a reply at the end, or never sent. */
    unfinished: 0,
    firstOperationMs: null as number | null,
  };
  warmupErrors = 0;
  behindMsMax = 0;
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
    if (!this.#hasFirst && replied > 0) this.counts.firstOperationMs = latencyMs;
    this.#hasFirst = true;
    this.counts.recordsTotal += replied;
    if (nowMs < this.#phases.openedMs) this.warmupErrors += errors.length;
    else this.#countWithin(operation, replied, errors, nowMs);
    if (replied > 0) this.#phases.replied(nowMs);
  }

  /** Ends the count: operations in flight are unfinished, with their age as latency. */
  cut(nowMs: number): void {
    for (const { dueMs } of this.#underWay) this.#time(dueMs, nowMs);
    this.counts.unfinished += this.#underWay.size;
  }

  /** Counts a call that was due within the window, but not sent before it closed. */
  skip(dueMs: number, nowMs: number): void {
    if (!this.#isWithin(dueMs)) return;
    this.counts.unfinished += 1;
    recordLatency(this.histogram, nowMs - dueMs);
  }

  #countWithin(operation: UnderWay, replied: number, errors: readonly unknown[], nowMs: number): void {
    for (const error of errors) {
      const code = errorCode(error);
      this.counts.errors[code] = (this.counts.errors[code] ?? 0) + 1;
    }
    if (replied === 0) return;
    const { openedMs, closesMs } = this.#phases;
    this.counts.records += replied * shareWithin(operation.sentMs, nowMs, openedMs, closesMs);
    this.counts.recordsFirstHalf += replied * shareWithin(operation.sentMs, nowMs, openedMs, (openedMs + closesMs) / 2);
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
