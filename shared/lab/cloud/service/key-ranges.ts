// Datastore's ranges of keys, each for some writes a second. It splits busy ones; sequential keys
// all meet the last.
import type { ProviderParameters } from '../data/parameters.ts';
import { PacedQueue } from './rate-limits.ts';

interface KeyRange {
  readonly low: string;
  readonly queue: PacedQueue;
  /** Since when writes wait here; undefined while they do not. */
  busySinceMs: number | undefined;
  readonly recent: string[];
  written: number;
}

/** Writes after which the keys' place is known. */
const LEARNED_AFTER = 2_048;
/** Last keys that decide where a range is split. */
const RECENT_MAX = 64;

export class KeyRanges {
  readonly #parameters: ProviderParameters;
  /** Ranges that the first keys are spread over; a new kind has one. */
  readonly #count: number;
  readonly #splitAfterMs: number;
  #ranges: KeyRange[];
  #learned: string[] | undefined;

  constructor(parameters: ProviderParameters, isCold: boolean) {
    this.#parameters = parameters;
    this.#count = isCold ? 1 : parameters.get('range.count');
    this.#splitAfterMs = parameters.get('range.splitAfterMs');
    this.#ranges = [this.#newRange('')];
    this.#learned = this.#count > 1 ? [] : undefined;
  }

  /** How long a write of this key waits; undefined if it is refused. */
  waitMs(nowMs: number, key: string): number | undefined {
    if (this.#learned !== undefined) {
      this.#learn(key);
      return 0;
    }
    const range = this.#rangeOf(key);
    const wait = range.queue.waitMs(nowMs, 1);
    range.recent[range.written % RECENT_MAX] = key;
    range.written += 1;
    if (wait === 0) range.busySinceMs = undefined;
    else range.busySinceMs ??= nowMs;
    if (nowMs - (range.busySinceMs ?? nowMs) >= this.#splitAfterMs) this.#split(range);
    return wait;
  }

  #learn(key: string): void {
    const keys = this.#learned!;
    keys.push(key);
    if (keys.length < LEARNED_AFTER) return;
    keys.sort();
    const count = this.#count;
    const lows = Array.from({ length: count }, (_, at) => keys[Math.floor((at * keys.length) / count)]!);
    this.#ranges = [...new Set(['', ...lows.slice(1)])].map((low) => this.#newRange(low));
    this.#learned = undefined;
  }

  #rangeOf(key: string): KeyRange {
    const ranges = this.#ranges;
    let from = 0;
    let to = ranges.length;
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if (ranges[middle]!.low <= key) from = middle;
      else to = middle;
    }
    return ranges[from]!;
  }

  /** At the median of its last keys; not at all while they are one and the same. */
  #split(range: KeyRange): void {
    const keys = range.recent.toSorted();
    const low = keys[keys.length >> 1]!;
    range.busySinceMs = undefined;
    if (low === keys[0] || low <= range.low) return;
    this.#ranges.splice(this.#ranges.indexOf(range) + 1, 0, this.#newRange(low));
  }

  #newRange(low: string): KeyRange {
    const queue = new PacedQueue(
      this.#parameters.get('range.writesPerSecond'),
      this.#parameters.get('range.waitMaxMs'),
    );
    return { low, queue, busySinceMs: undefined, recent: [], written: 0 };
  }
}
