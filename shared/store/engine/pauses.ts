// How one queue waits: it backs off after trouble, and rests while others come first.
import type { Runtime } from '../contract/runtime.ts';
import { asBuffer } from '../format/bytes.ts';
import type { Backoff } from './backoff.ts';

/** A pause is slept in pieces, so that it ends with the last call that waits. */
const PIECE_MS = 100;
/** After so many rests in a row a queue tries a commit whatever others do. */
const RESTS_MAX = 16;
/** Queues that rested come back at different times, spread over this share of their rest. */
const REST_SPREAD = 0.25;

export class Pauses {
  readonly #runtime: Runtime;
  readonly #backoff: Backoff;
  readonly #isAwaited: () => boolean;
  #restsInARow = 0;
  /** Ends the pause of a queue that has nothing but hints. */
  #wake: (() => void) | undefined;

  /** `isAwaited`: whether a call waits for what the queue does. */
  constructor(runtime: Runtime, backoff: Backoff, isAwaited: () => boolean) {
    this.#runtime = runtime;
    this.#backoff = backoff;
    this.#isAwaited = isAwaited;
  }

  get mayRest(): boolean {
    return this.#restsInARow < RESTS_MAX;
  }

  /** A change came for which a call waits. */
  wake(): void {
    this.#wake?.();
  }

  /** The queue tries a commit. */
  endRests(): void {
    this.#restsInARow = 0;
  }

  backoffMs(doublings: number, areHints: boolean): number {
    const share = asBuffer(this.#runtime.random(2)).readUInt16BE() / 0xffff;
    return this.#backoff.pauseMs(doublings, areHints, share);
  }

  /** While a call waits: a provider may ask for more time, and `close` waits for this. */
  async whileAwaited(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0 && this.#isAwaited(); leftMs -= PIECE_MS)
      await this.#runtime.sleep(Math.min(leftMs, PIECE_MS));
  }

  async untilWoken(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#runtime.watch(ms, woken.signal);
    this.#wake = undefined;
  }

  async rest(ms: number): Promise<void> {
    const spread = asBuffer(this.#runtime.random(1)).readUInt8() / 0xff;
    await this.#runtime.sleep(ms * (1 + REST_SPREAD * spread));
    this.#restsInARow += 1;
  }
}
