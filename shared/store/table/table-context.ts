// What a table's reader, writer and scans need of it, and the room that a store's writes share.
import { StoreError } from '../contract/errors.ts';
import type { CodecName, Order, StandardSchema } from '../contract/options.ts';
import type { Engine } from '../engine/engine.ts';
import type { Deadlines } from '../io/deadline.ts';

export interface TableContext {
  readonly engine: Engine;
  readonly order: Order;
  readonly groupBy: string | undefined;
  readonly isNew: boolean;
  readonly codec: CodecName;
  readonly schema: StandardSchema | undefined;
  /** After how long records that this handle creates expire; undefined: never. */
  readonly ttlMs: number | undefined;
  readonly deadlines: Deadlines;
  readonly admission: Admission;
}

/** Bounds the line's memory. */
const WAITING_MAX = 10_000;

interface Waiting {
  readonly bytes: number;
  readonly count: number;
  admit(): void;
}

/** A call's room, or its wait for it. */
export interface Ticket {
  /** Resolves when there is room; undefined if there was at once. */
  readonly entered: Promise<void> | undefined;
  /** Gives the room back, or leaves the line. Call it once. */
  leave(): void;
}

/** Bounds the changes that wait, in number and bytes. Further calls wait in a bounded line. */
export class Admission {
  readonly #bytesMax: number;
  readonly #countMax: number;
  #bytes = 0;
  #count = 0;
  readonly #line: Waiting[] = [];

  constructor(bytesMax: number, countMax: number) {
    this.#bytesMax = bytesMax;
    this.#countMax = countMax;
  }

  /** Takes room, now or later. Throws `throttled` when the line is full. */
  enter(bytes: number, count: number): Ticket {
    if (this.#line.length === 0 && this.#hasRoom(bytes, count)) {
      this.#take(bytes, count);
      return { entered: undefined, leave: () => this.#giveBack(bytes, count) };
    }
    if (this.#line.length >= WAITING_MAX) throw new StoreError('throttled', 'too many writes wait already: slow down');
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting: Waiting = { bytes, count, admit: resolve };
    this.#line.push(waiting);
    return { entered: promise, leave: () => this.#leave(waiting) };
  }

  #leave(waiting: Waiting): void {
    const index = this.#line.indexOf(waiting);
    if (index < 0) return this.#giveBack(waiting.bytes, waiting.count);
    this.#line.splice(index, 1);
    // The next in line may be smaller and fit.
    this.#admit();
  }

  #giveBack(bytes: number, count: number): void {
    this.#bytes -= bytes;
    this.#count -= count;
    this.#admit();
  }

  #admit(): void {
    for (;;) {
      const first = this.#line[0];
      if (first === undefined || !this.#hasRoom(first.bytes, first.count)) return;
      this.#line.shift();
      this.#take(first.bytes, first.count);
      first.admit();
    }
  }

  /** A call larger than the bound is admitted alone. */
  #hasRoom(bytes: number, count: number): boolean {
    return this.#count === 0 || (this.#bytes + bytes <= this.#bytesMax && this.#count + count <= this.#countMax);
  }

  #take(bytes: number, count: number): void {
    this.#bytes += bytes;
    this.#count += count;
  }
}
