// The open loop: calls begin when they are due, whether earlier ones were answered or not. Latency
// counts from then; otherwise a store that stands still would look fast (coordinated omission).
import pLimit from 'p-limit';
import type { Random } from '../kit/random.ts';
import type { CellRequest } from './cell.ts';

/** Draws the milliseconds from one arrival to the next, without end. */
export function gapsOf(perSecond: number, arrivals: CellRequest['arrivals'], random: Random): () => number {
  const meanMs = 1_000 / perSecond;
  return arrivals === 'equidistant' ? () => meanMs : () => -Math.log(1 - random()) * meanMs;
}

interface OpenLoop {
  /** Asked before each call; true ends the loop. */
  readonly isOver: () => boolean;
  /** When the first call is due, and the milliseconds from each to the next. */
  readonly startMs: number;
  readonly gapMs: () => number;
  /** Resolves at that moment, or when the loop is over. */
  readonly until: (dueMs: number) => Promise<void>;
  /** A call that is due while so many are in flight waits until one of them has ended. */
  readonly inFlightMax: number;
  /** Never rejects. */
  readonly call: (dueMs: number) => Promise<void>;
}

/** Resolves when the loop is over and every call that was due has been made and answered. */
export async function openLoop({ isOver, startMs, gapMs, until, inFlightMax, call }: OpenLoop): Promise<void> {
  const limit = pLimit(inFlightMax);
  const calls = new Set<Promise<void>>();
  let dueMs = startMs;
  while (!isOver()) {
    await until(dueMs);
    const made: Promise<void> = limit(call, dueMs).finally(() => calls.delete(made));
    calls.add(made);
    dueMs += gapMs();
  }
  await Promise.all(calls);
}
