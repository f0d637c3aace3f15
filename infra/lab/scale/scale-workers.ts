// Spreads cells over worker threads. A cell's result depends on the cell alone.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { eachInFlight } from '../../../shared/lab/load/loops.ts';
import type { Cell, Layout, Played, Times } from '../../../shared/lab/scale/play-row.ts';
import { nameOf, type Row } from '../../../shared/lab/scale/scale-rows.ts';

const WORKER = new URL('scale-worker.ts', import.meta.url);

/** With Node.js's own 16 MB, collecting requests and replies takes a fifth of the time. */
const YOUNG_MB = 128;

/** By the end of this warm-up a table of containers has its final shape. */
export const TIMES: Times = { warmUpMs: 20_000, windowMs: 5_000 };

/** Single entities need no longer warm-up, as they do not change their shape. */
const SINGLE_TIMES: Times = { warmUpMs: 500, windowMs: 5_000 };

export function cellOf(row: Row, layout: Layout, rest: Pick<Cell, 'times' | 'seed' | 'profile'>): Cell {
  return { row, layout, ...rest, times: layout === 'container' ? rest.times : SINGLE_TIMES };
}

/** In the order of the cells. Rejects with the first cell that failed, or the signal's reason. */
export async function playCells(
  cells: readonly Cell[],
  { workers, signal }: { readonly workers: number; readonly signal: AbortSignal },
): Promise<Played[]> {
  const started: Worker[] = [];
  const idle: Worker[] = [];
  const results: Played[] = [];
  try {
    await eachInFlight([...cells.entries()], workers, async ([at, cell]) => {
      const worker = idle.pop() ?? new Worker(WORKER, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
      if (!started.includes(worker)) started.push(worker);
      worker.postMessage(cell, []);
      const [answer] = (await once(worker, 'message', { signal })) as [Played | { readonly error: string }];
      if ('error' in answer) throw new Error(`${nameOf(cell.row)} as ${cell.layout} failed: ${answer.error}`);
      results[at] = answer;
      idle.push(worker);
      console.error(`played ${nameOf(cell.row)} as ${cell.layout}`);
    });
    return results;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await Promise.all(started.map((worker) => worker.terminate()));
  }
}
