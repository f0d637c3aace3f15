// The closed loop: each caller waits for its reply before it calls again.

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
