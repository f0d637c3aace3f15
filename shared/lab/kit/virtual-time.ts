// Virtual time. One heap holds all events, and the seed decides between events of one moment. After
// each event all code runs until it waits, so that the same seed gives the same run.
import { type Random, seededRandom } from './random.ts';
import type { Runtime } from '../../store/contract/runtime.ts';

/** The process of an event. A dead one misses it; a sleeping one gets it when it wakes. */
export interface Owner {
  readonly isDead: boolean;
  readonly wakesAtMs: number;
}

interface Event {
  dueMs: number;
  readonly tie: number;
  readonly owner: Owner | undefined;
  fire: (() => void) | undefined;
}

/** After so many events the event loop takes a turn, so that signals and messages are handled. */
const EVENTS_PER_TURN = 4_096;

export class Scheduler {
  readonly #heap: Event[] = [];
  readonly #draw: () => number;
  #nowMs = 0;
  #steps = 0;
  #settled = 0;
  /** Called after each event, once all code waits again. */
  afterStep: () => void = () => undefined;

  constructor(seed: number) {
    this.#draw = seededRandom(seed);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Events that happened. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Calls `fire` at that time; a time in the past, or NaN, means now. The returned function cancels
   * it. Only events of the network have no owner.
   */
  at(dueMs: number, fire: () => void, owner?: Owner): () => void {
    const notBeforeMs = dueMs > this.#nowMs ? dueMs : this.#nowMs;
    const event: Event = { dueMs: notBeforeMs, tie: this.#draw(), owner, fire };
    this.#push(event);
    return () => {
      event.fire = undefined;
    };
  }

  /** Resolves after `ms`, for `owner`, or when the signal aborts. */
  after(ms: number, owner?: Owner, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      if (signal === undefined) {
        this.at(this.#nowMs + ms, resolve, owner);
        return;
      }
      const aborted = (): void => {
        cancel();
        resolve();
      };
      // A signal that outlives many waits must not keep a listener for each.
      const fire = (): void => {
        signal.removeEventListener('abort', aborted);
        resolve();
      };
      const cancel = this.at(this.#nowMs + ms, fire, owner);
      signal.addEventListener('abort', aborted, { once: true });
    });
  }

  /** Runs events until `work` has settled. Throws if none is left before, or after `stepsMax`. */
  async run(work: Promise<unknown>, stepsMax: number): Promise<void> {
    const progress = { isDone: false };
    void Promise.allSettled([work]).then(() => {
      progress.isDone = true;
    });
    const last = this.#steps + stepsMax;
    for (await turn(); !progress.isDone;) {
      if (this.#heap.length === 0) throw new Error('stuck: the work still waits, but no event is left');
      await this.#step();
      if (this.#steps > last) throw new Error(`no end after ${stepsMax} events`);
    }
    await work;
  }

  /** Runs the events that are due within `ms`. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    while ((this.#heap[0]?.dueMs ?? Infinity) <= untilMs) await this.#step();
    this.#nowMs = untilMs;
  }

  /** Runs all events of code that awaits nothing. Throws after `stepsMax` events. */
  play(stepsMax: number): void {
    const last = this.#steps + stepsMax;
    while (this.#heap.length > 0) {
      if (this.#fireNext()) this.afterStep();
      if (this.#steps > last) throw new Error(`no end after ${stepsMax} events`);
    }
  }

  /** Fires the next event, and lets all code run that it wakes. */
  #step(): Promise<void> | undefined {
    return this.#fireNext() ? this.#settle() : undefined;
  }

  /** Fires the next event; false if it was cancelled, or its owner is dead or asleep. */
  #fireNext(): boolean {
    const event = this.#pop()!;
    const { owner, fire } = event;
    if (fire === undefined || owner?.isDead === true) return false;
    if (owner !== undefined && owner.wakesAtMs > event.dueMs) {
      event.dueMs = owner.wakesAtMs + this.#draw() * 5;
      this.#push(event);
      return false;
    }
    this.#nowMs = event.dueMs;
    this.#steps += 1;
    event.fire = undefined;
    fire();
    return true;
  }

  async #settle(): Promise<void> {
    this.#settled += 1;
    await (this.#settled % EVENTS_PER_TURN === 0 ? turn() : afterPromises());
    this.afterStep();
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.dueMs === b.dueMs ? a.tie < b.tie : a.dueMs < b.dueMs;
}

/** Resolves when no callback of a promise is left: Node.js runs its ticks after them. */
function afterPromises(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/** As `afterPromises`, after a turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const START_WALL_MS = 1_700_000_000_000;

/** Work takes no virtual time; only timers and replies let time pass. */
export class ScheduledRuntime implements Runtime {
  readonly #scheduler: Scheduler;
  readonly #random: Random;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  wallMs(): number {
    return Math.floor(START_WALL_MS + this.#scheduler.nowMs);
  }

  monotonicMs(): number {
    return this.#scheduler.nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.watch(ms, signal);
  }

  watch(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#scheduler.after(ms, undefined, signal);
  }

  nextTurn(): Promise<void> {
    return Promise.resolve();
  }

  busyShare(): number {
    return 0;
  }

  random(bytes: number): Uint8Array {
    return Uint8Array.from({ length: bytes }, () => Math.floor(this.#random() * 256));
  }
}
