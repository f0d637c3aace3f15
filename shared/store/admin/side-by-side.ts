// Works on many containers at once. Requests have a limit of their own (`inFlightMax`); this one
// bounds what is in memory.

/** Items of one work under way at a time, and leaves that a vacuum merges in one window. */
export const AT_A_TIME_MAX = 256;

/** Does the work for each item; after a failure it begins no other, and rejects. */
export async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const item of waiting) {
      if (hasFailed) return;
      try {
        await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME_MAX, items.length) }, worker));
}
