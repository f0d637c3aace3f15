// A clock for tests: time passes when somebody waits, at once.
import type { Clock } from '../../../../../infra/plugin/context/context.ts';

export interface TestClock extends Clock {
  /** How long everybody has waited so far, in milliseconds. */
  waitedMs(): number;
  /** Gives what sets it back to now. */
  keep(): () => void;
}

export function testClock(): TestClock {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    sleep: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
    waitedMs: () => nowMs,
    keep() {
      const keptMs = nowMs;
      return () => void (nowMs = keptMs);
    },
  };
}
