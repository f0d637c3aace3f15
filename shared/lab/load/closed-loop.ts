// The closed loop: callers who each wait for a reply before they call again. Whatever measures or loads with a fixed number in flight runs this one.
import type { Runtime } from '../../store/index.ts';

/** Asked before each call, by each caller; true ends the loop. What has been asked once may answer otherwise the next time. */
export type IsOver = () => boolean;

/**
 * Runs so many callers, numbered from 0, until `isOver`; all of them begin in this turn of the event loop. Resolves when the last reply has arrived. After a
 * call that rejects nobody calls again, and the loop rejects with the first error when nothing is in flight any more. Calls whose replies never wait keep
 * timers and signals from being heard: such a call has to wait for the next turn itself.
 */
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

/** Over when so much time has passed since it was first asked, so that one call is made at least. What is in flight then is waited for. */
export function afterMs(durationMs: number, clock: Pick<Runtime, 'monotonicMs'>): IsOver {
  let endMs: number | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (endMs !== undefined) return nowMs >= endMs;
    endMs = nowMs + durationMs;
    return false;
  };
}

/** Hands each of the items to one call, so many at a time (Infinity: all). Settles as `closedLoop` does. */
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
