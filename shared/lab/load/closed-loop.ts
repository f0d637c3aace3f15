// The closed loop: callers who each wait for a reply before they call again.
import type { Runtime } from '../../store/index.ts';

/** Asked before each call, by each caller; true ends the loop. The next answer may differ. */
export type IsOver = () => boolean;

/** Callers have numbers from 0. After a failure nobody calls again; rejects when all is quiet. */
export async function closedLoop(
  callers: number,
  isOver: IsOver,
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

/** Over after so many calls of all callers together. */
export function afterCalls(count: number): IsOver {
  let left = count;
  return () => left-- <= 0;
}

/** Over after this time, from when it was first asked: one call is made at least. */
export function afterMs(durationMs: number, clock: Pick<Runtime, 'monotonicMs'>): IsOver {
  let endMs: number | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (endMs !== undefined) return nowMs >= endMs;
    endMs = nowMs + durationMs;
    return false;
  };
}

/** One call for each item, so many at a time (Infinity: all). Settles as `closedLoop` does. */
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
