// The load of a cell, closed or open loop, through warm-up, window and a bounded drain.
import type { Runtime } from '../../store/index.ts';
import type { CellRequest, CellResult } from './cell.ts';
import type { Histogram } from '../kit/histogram.ts';
import type { Call, Unit } from '../work/layout-clients.ts';
import { gapsOf } from './arrivals.ts';
import { closedLoop } from './closed-loop.ts';
import { Meter } from './meter.ts';
import { openLoop } from './open-loop.ts';
import { Phases, type PhasesOptions, type WindowPhases } from './phases.ts';
import type { Ramp } from './ramp.ts';
import { scramble32, seededRandom } from '../kit/random.ts';

/** A load, whatever opens and closes its window. */
export interface PhasedOptions extends Pick<CellRequest, 'callers'> {
  readonly phases: WindowPhases;
  /** Milliseconds from each call of an open loop to the next; null: a closed loop. */
  readonly gapMs: (() => number) | null;
  /** How long operations in flight at the end are waited for. */
  readonly drainMs: number;
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
  /** Holds operations back. Default: nothing does. */
  readonly ramp?: Ramp | undefined;
}

/** A load with the phases of its request. */
export interface WindowOptions
  extends
    Omit<PhasedOptions, 'phases' | 'gapMs'>,
    Omit<PhasesOptions, 'runtime'>,
    Pick<CellRequest, 'arrivals' | 'drawSeed' | 'part'> {}

type Fields = 'durationMs' | 'records' | 'recordsTotal' | 'errors' | 'unfinished' | 'firstOperationMs';

/** Figures as callers saw them; the fields are those of a cell's result (cell.ts). */
export interface WindowResult extends Pick<CellResult, Fields | 'warmup' | 'openedAtMs' | 'behindMsMax'> {
  readonly histogram: Histogram;
  readonly underWayMs: number;
  readonly byCaller: Uint32Array;
}

/** Keeps when calls are due apart from what they do, which is drawn from the same seed. */
const ARRIVALS_SALT = 0x5a17_0bad;

/** Longest wait for calls in flight when the signal aborts. */
const ABORTED_DRAIN_MS = 3_000;

/** Makes the next call of this caller, or arrival; both are numbered from 0. */
export type NextCall = (caller: number) => Call;

/** Rejects only when the signal aborts, and then when nothing is in flight any more. */
export async function runWindow(nextCall: NextCall, options: WindowOptions): Promise<WindowResult> {
  const { ratePerSecond, arrivals, drawSeed, part } = options;
  const random = seededRandom(scramble32(scramble32(drawSeed ^ ARRIVALS_SALT) + part.index));
  const gapMs = ratePerSecond === null ? null : gapsOf({ perSecond: ratePerSecond, spacing: arrivals }, random);
  return runPhases(nextCall, { ...options, phases: new Phases(options), gapMs });
}

/** The same, in the caller's own phases. */
export async function runPhases(nextCall: NextCall, options: PhasedOptions): Promise<WindowResult> {
  const run = new Run(nextCall, options);
  const { signal, runtime } = options;
  const callers = options.gapMs === null ? run.closedLoop() : run.openLoop(options.gapMs);
  const over = new AbortController();
  await Promise.race([callers, run.atTheLatest(AbortSignal.any([over.signal, signal]))]);
  over.abort();
  if (signal.aborted) await Promise.race([callers, runtime.watch(ABORTED_DRAIN_MS)]);
  signal.throwIfAborted();
  return run.result();
}

class Run {
  readonly #nextCall: NextCall;
  readonly #options: PhasedOptions;
  readonly #phases: WindowPhases;
  readonly #meter: Meter;
  readonly #wallStartMs: number;

  constructor(nextCall: NextCall, options: PhasedOptions) {
    this.#nextCall = nextCall;
    this.#options = options;
    this.#wallStartMs = options.runtime.wallMs();
    this.#phases = options.phases;
    this.#meter = new Meter(this.#phases, options.gapMs === null ? options.callers : 0);
  }

  closedLoop(): Promise<void> {
    const isOver = (): boolean => !this.#isOpen();
    return closedLoop(this.#options.callers, isOver, (caller) => this.#make(caller, this.#nextCall(caller), undefined));
  }

  openLoop(gapMs: () => number): Promise<void> {
    return openLoop({
      isOver: () => !this.#isOpen(),
      startMs: this.#phases.startMs,
      gapMs,
      until: (dueMs) => this.#until(dueMs),
      inFlightMax: this.#options.callers,
      call: (arrival, dueMs) => this.#makeDue(arrival, dueMs),
    });
  }

  async #makeDue(arrival: number, dueMs: number): Promise<void> {
    if (this.#isOpen()) await this.#make(arrival, this.#nextCall(arrival), dueMs);
    else this.#meter.leave(dueMs, this.#options.runtime.monotonicMs());
  }

  /** Ends early when the window closes. */
  async #until(dueMs: number): Promise<void> {
    const { runtime, signal } = this.#options;
    for (;;) {
      const waitMs = Math.min(dueMs, this.#phases.closedMs) - runtime.monotonicMs();
      if (waitMs <= 0 || signal.aborted) return;
      await runtime.watch(Math.min(waitMs, this.#phases.tickMs), signal);
      this.#phases.look();
    }
  }

  #isOpen(): boolean {
    this.#phases.look();
    if (this.#options.signal.aborted) this.#phases.close();
    return this.#phases.closedMs === Infinity;
  }

  /** Sees to it that the window ends, and resolves when the drain is over too: callers may hang. */
  async atTheLatest(signal: AbortSignal): Promise<void> {
    const { drainMs, runtime } = this.#options;
    while (!signal.aborted && this.#isOpen()) await runtime.watch(this.#phases.tickMs, signal);
    this.#phases.close();
    await runtime.watch(drainMs, signal);
  }

  /** `dueMs`: of the call's first units; undefined: when they are sent. */
  async #make(caller: number, call: Call, dueMs: number | undefined): Promise<void> {
    let firstDueMs = dueMs;
    for (const group of call) {
      const { ramp, signal } = this.#options;
      if (ramp !== undefined) await ramp.turn(() => !this.#isOpen(), signal);
      if (!this.#isOpen()) return;
      const [unit] = group;
      if (group.length === 1) await this.#send(caller, unit!, firstDueMs);
      else await Promise.all(group.map((one) => this.#send(caller, one, firstDueMs)));
      firstDueMs = undefined;
    }
  }

  async #send(caller: number, unit: Unit, dueMs: number | undefined): Promise<void> {
    const { runtime } = this.#options;
    const sentMs = runtime.monotonicMs();
    const operation = this.#meter.begin(dueMs ?? sentMs, sentMs, unit.records, caller);
    let errors: readonly unknown[];
    try {
      errors = await unit.send();
    } catch (error) {
      errors = Array.from({ length: unit.records }, () => error);
    }
    this.#phases.look();
    this.#meter.end(operation, errors, runtime.monotonicMs());
    // A provider that refuses at once would otherwise keep this loop from ever letting timers and
    // sockets in.
    if (errors.length > 0) await runtime.nextTurn();
  }

  result(): WindowResult {
    const { runtime, gapMs } = this.#options;
    const { startMs, openedMs, closedMs, steadiness } = this.#phases;
    const meter = this.#meter;
    meter.cut(runtime.monotonicMs());
    return {
      warmup: { durationMs: openedMs - startMs, steadiness, errors: meter.warmupErrors },
      openedAtMs: this.#wallStartMs + openedMs - startMs,
      durationMs: closedMs - openedMs,
      records: meter.records,
      recordsTotal: meter.recordsTotal,
      errors: meter.errors,
      unfinished: meter.unfinished,
      firstOperationMs: meter.firstOperationMs,
      behindMsMax: gapMs === null ? null : meter.behindMsMax,
      histogram: meter.histogram,
      underWayMs: meter.underWayMs,
      byCaller: meter.byCaller,
    };
  }
}
