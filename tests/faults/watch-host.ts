// Loaded into a host beside its function: prints its memory and its event loop's longest turns.
import { processorTimes } from '../../functions/compare/processor.ts';

const EVERY_MS = 5_000;
const TICK_MS = 5;

/** The time from one tick to the next, and the thread's part of it. */
export interface Turn {
  readonly tookMs: number;
  /** The thread had a processor. */
  readonly ranMs: number;
  /** It wanted one, which others had. */
  readonly waitedMs: number;
}

// The host's supervisor is loaded with it too.
if (process.argv[1]?.endsWith('supervisor.ts') !== true) watch();

function watch(): void {
  let turns: Turn[] = [];
  let last = now();
  setInterval(() => {
    const at = now();
    turns.push({
      tookMs: at.tookMs - last.tookMs,
      ranMs: at.ranMs - last.ranMs,
      waitedMs: at.waitedMs - last.waitedMs,
    });
    last = at;
  }, TICK_MS).unref();
  setInterval(() => {
    const { heapUsed, rss } = process.memoryUsage();
    const longest = turns.reduce((one, other) => (other.tookMs > one.tookMs ? other : one));
    const busiest = turns.reduce((one, other) => (other.ranMs > one.ranMs ? other : one));
    turns = [];
    console.log(`WATCHED ${JSON.stringify({ heapUsed, rss, longest, busiest })}`);
  }, EVERY_MS).unref();
}

function now(): Turn {
  const { ranMs = 0, waitedMs = 0 } = processorTimes() ?? {};
  return { tookMs: performance.now(), ranMs, waitedMs };
}
