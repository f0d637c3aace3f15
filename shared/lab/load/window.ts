// The load of a cell, closed or open loop, through warm-up, window and a bounded drain.
import type { Runtime } from '../../store/index.ts';
import type { CellRequest, CellResult } from './cell.ts';
import type { Histogram } from '../kit/histogram.ts';
import type { Call, Unit } from '../work/layout-clients.ts';
import { closedLoop } from './closed-loop.ts';
import { Meter } from './meter.ts';
import { gapsOf, openLoop } from './open-loop.ts';
import { Phases, type PhasesOptions } from './phases.ts';
import type { Ramp } from './ramp.ts';
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
      records: meter.records,
      recordsFirstHalf: meter.recordsFirstHalf,
      recordsTotal: meter.recordsTotal,
      errors: meter.errors,
      unfinished: meter.unfinished,
      firstOperationMs: meter.firstOperationMs,
      behindMsMax: ratePerSecond === null ? null : meter.behindMsMax,
      histogram: meter.histogram,
    };
  }
}
