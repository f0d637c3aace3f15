// Loaded into a host beside its function: prints its memory and its event loop's longest turn.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const EVERY_MS = 5_000;
const RESOLUTION_MS = 5;

// The host's supervisor is loaded with it too.
if (process.argv[1]?.endsWith('supervisor.ts') !== true) watch();

function watch(): void {
  const turns = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  turns.enable();
  setInterval(() => {
    const { heapUsed, rss } = process.memoryUsage();
    const longestMs = Math.round(turns.max / 1e6);
    const p999Ms = Math.round(turns.percentile(99.9) / 1e6);
    turns.reset();
    console.log(`WATCHED ${JSON.stringify({ heapUsed, rss, longestMs, p999Ms })}`);
  }, EVERY_MS).unref();
}
