// Works on many containers at once. `inFlightMax` bounds the requests; this bounds what is in
// memory.

/** The most items at a time, and the most leaves in one window of a vacuum. */
export const AT_A_TIME_MAX = 256;

/** Does the work for each item. After a failure it begins no further one, and rejects. */
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
