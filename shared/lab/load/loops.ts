// The closed loop, where each caller waits for its reply before it calls again, and the open loop,
// where calls begin when they are due. Its latency counts from then; otherwise a store that stands
// still would look fast (coordinated omission).
import pLimit from 'p-limit';
import type { Random } from '../kit/random.ts';
import type { CellRequest } from './cell.ts';

/**
 * Callers are numbered from 0. Each asks `isOver` before each of its calls, and stops at true.
 * After one call failed nobody calls again; rejects with its error once no call is in flight.
 */
export async function closedLoop(
  callers: number,
  isOver: () => boolean,
  call: (caller: number) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  const callAgain = async (caller: number): Promise<void> => {
    try {
      while (failures.length === 0 && !isOver()) await call(caller);
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => callAgain(caller)));
  if (failures.length > 0) throw failures[0];
}

/** Makes one call for each item, at most `callers` at a time. Settles as `closedLoop` does. */
export async function eachInFlight<Item>(
  items: readonly Item[],
  callers: number,
  call: (item: Item) => Promise<unknown>,
): Promise<void> {
  let at = 0;
  await closedLoop(
    Math.min(callers, items.length),
    () => at >= items.length,
    () => call(items[at++]!),
  );
}

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
