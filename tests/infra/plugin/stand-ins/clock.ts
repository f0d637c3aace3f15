// A clock for tests: time passes when somebody waits, at once.

export function testClock() {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    sleep: (ms: number) => {
      nowMs += ms;
      return Promise.resolve();
    },
    /** How long everybody has waited so far. */
    waitedMs: () => nowMs,
  };
}
