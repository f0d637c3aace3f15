// Virtual time. One heap holds all events; the seed breaks ties. Between two events the engine
// runs until it waits, so a seed is one run.
import { seededRandom } from './random.ts';

/** Whoever an event belongs to: the dead miss it, sleepers get it when they wake. */
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

/** Then the event loop takes a turn, so that signals, messages and deadlines are heard. */
const RESTS_PER_TURN = 4_096;

export class Scheduler {
  readonly #heap: Event[] = [];
  readonly #draw: () => number;
  #nowMs = 0;
  #steps = 0;
  #settled = 0;
  /** Called when the engine has come to rest after an event. */
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
   * Now for times that have passed, and for what is no number. The function returned takes `fire`
   * back. Events without an owner are the network's.
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
      // A signal that outlives many waits is not to keep them all.
      const fire = (): void => {
        signal.removeEventListener('abort', aborted);
        resolve();
      };
      const cancel = this.at(this.#nowMs + ms, fire, owner);
      signal.addEventListener('abort', aborted, { once: true });
    });
  }

  /** Throws if nothing brings what it waits for, or after `stepsMax` events. */
  async run(work: Promise<unknown>, stepsMax: number): Promise<void> {
    const progress = { isDone: false };
    void Promise.allSettled([work]).then(() => {
      progress.isDone = true;
    });
    const last = this.#steps + stepsMax;
    for (await turn(); !progress.isDone;) {
      if (this.#heap.length === 0) throw new Error('stuck: the work waits, and nothing is to happen');
      await this.#step();
      if (this.#steps > last) throw new Error(`no end after ${stepsMax} events`);
    }
    await work;
  }

  /** Lets everything happen that is due within `ms`. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    while ((this.#heap[0]?.dueMs ?? Infinity) <= untilMs) await this.#step();
    this.#nowMs = untilMs;
  }

  /** Lets everything happen, where nothing is awaited. Throws after `stepsMax` events. */
  play(stepsMax: number): void {
    const last = this.#steps + stepsMax;
    while (this.#heap.length > 0) {
      if (this.#happens()) this.afterStep();
      if (this.#steps > last) throw new Error(`no end after ${stepsMax} events`);
    }
  }

  /** The next event, and all that follows from it at this moment. */
  #step(): Promise<void> | undefined {
    return this.#happens() ? this.#settle() : undefined;
  }

  /** The next event; false if it was taken back, or its owner is dead, or asleep. */
  #happens(): boolean {
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
    await (this.#settled % RESTS_PER_TURN === 0 ? turn() : rest());
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

/** Resolves when all that needs no time has happened: Node's ticks come after promises. */
function rest(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/** As `rest`, and after a turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
