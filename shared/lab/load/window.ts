// The load of a cell: a closed loop of callers, or an open loop at a rate, through warm-up, window and a bounded drain.
import pLimit from 'p-limit';
import type { Runtime } from '../../store/index.ts';
import type { CellRequest, CellResult } from './cell.ts';
import type { Histogram } from '../kit/histogram.ts';
import type { Call, Unit } from '../work/layout-clients.ts';
import { Meter } from './meter.ts';
import { Phases, type PhasesOptions } from './phases.ts';
import type { Ramp } from './ramp.ts';
import { scramble32, seededRandom } from '../kit/random.ts';

/** The load, and how long it lasts. */
export interface WindowOptions extends PhasesOptions, Pick<CellRequest, 'arrivals' | 'drawSeed' | 'part'> {
  /** How long operations in flight at the end are waited for. */
  readonly drainMs: number;
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
  /** Holds operations back; undefined where nothing does. */
  readonly ramp: Ramp | undefined;
}

type Fields = 'durationMs' | 'records' | 'recordsTotal' | 'errors' | 'unfinished' | 'series' | 'firstOperationMs';

/** What callers saw; the fields are those of a cell's result (cell.ts). */
export interface WindowResult extends Pick<CellResult, Fields | 'warmup' | 'openedAtMs' | 'behindMsMax'> {
  readonly histogram: Histogram;
}

/** What is in flight when the signal aborts is waited for no longer than this. */
const ABORTED_DRAIN_MS = 3_000;

/** Runs calls until the window ends. Rejects only when the signal aborts, and then when nothing is in flight any more. */
export async function runWindow(nextCall: () => Call, options: WindowOptions): Promise<WindowResult> {
  const run = new Run(nextCall, options);
  const { signal, runtime } = options;
  const callers = options.ratePerSecond === null ? run.closedLoop() : run.openLoop(options.ratePerSecond);
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
    this.#meter = new Meter(this.#phases, options.durationMs);
  }

  /** Callers that wait for their replies. */
  async closedLoop(): Promise<void> {
    const limit = pLimit(this.#options.callers);
    const caller = async (): Promise<void> => {
      while (this.#isOpen()) await limit(() => this.#make(this.#nextCall(), undefined));
    };
    await Promise.all(Array.from({ length: this.#options.callers }, caller));
  }

  /**
   * Calls at a rate, whatever was answered: the next one is due whether somebody is free to send it or not, and its latency counts from when it was
   * due. Otherwise all that could not be sent while the store stood still would be missing (Gil Tene calls that coordinated omission).
   */
  async openLoop(ratePerSecond: number): Promise<void> {
    const limit = pLimit(this.#options.callers);
    const calls = new Set<Promise<void>>();
    const nextGap = gaps(this.#options);
    for (let dueMs = this.#phases.startMs; this.#isOpen(); dueMs += (1_000 / ratePerSecond) * nextGap()) {
      const thisMs = dueMs;
      await this.#until(thisMs);
      const call: Promise<void> = limit(() => this.#makeDue(thisMs)).finally(() => calls.delete(call));
      calls.add(call);
    }
    await Promise.all(calls);
  }

  async #makeDue(dueMs: number): Promise<void> {
    if (this.#isOpen()) await this.#make(this.#nextCall(), dueMs);
    else this.#leave(dueMs);
  }

  /** A call that the window has closed on before it was sent. */
  #leave(dueMs: number): void {
    const { openedMs, closedMs } = this.#phases;
    if (dueMs >= openedMs && dueMs < closedMs) this.#meter.leave(dueMs, this.#options.runtime.monotonicMs());
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
  async #make(call: Call, dueMs: number | undefined): Promise<void> {
    let firstDueMs = dueMs;
    for (const group of call) {
      await this.#options.ramp?.turn(() => !this.#isOpen(), this.#options.signal);
      if (!this.#isOpen()) return;
      await Promise.all(group.map((unit) => this.#send(unit, firstDueMs)));
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
    this.#phases.look();
    this.#meter.end(operation, errors, runtime.monotonicMs());
    // A provider that refuses at once would otherwise keep this loop from ever letting timers and sockets in.
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
      recordsTotal: meter.recordsTotal,
      errors: meter.errors,
      unfinished: meter.unfinished,
      series: meter.series,
      firstOperationMs: meter.firstOperationMs,
      behindMsMax: ratePerSecond === null ? null : meter.behindMsMax,
      histogram: meter.histogram,
    };
  }
}

/** Keeps when calls are due apart from what they do, which is drawn from the same seed. */
const ARRIVALS_SALT = 0x5a17_0bad;

/** Distances from call to call, in mean ones. */
function gaps({ arrivals, drawSeed, part }: WindowOptions): () => number {
  if (arrivals === 'equidistant') return () => 1;
  const random = seededRandom(scramble32(scramble32(drawSeed ^ ARRIVALS_SALT) + part.index));
  return () => -Math.log(1 - random());
}
