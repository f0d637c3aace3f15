// Shares a plan's cells out to worker threads. A cell's result depends on the cell alone.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { eachInFlight } from '../../../shared/lab/load/closed-loop.ts';
import type { ModelCell, ModelResult } from '../../../shared/lab/cloud/run/cell.ts';
import type { Answer } from './worker.ts';

const WORKER = new URL('worker.ts', import.meta.url);

/** Requests and replies die young: with Node.js's own 16 MB a fifth of the time is collecting. */
const YOUNG_MB = 128;

export interface WorkersOptions {
  readonly workers: number;
  readonly signal: AbortSignal;
  readonly onResult: (result: ModelResult, done: number) => void;
}

/** In the order of the cells. Rejects with the first cell that failed, or the signal's reason. */
export async function runCells(cells: readonly ModelCell[], options: WorkersOptions): Promise<ModelResult[]> {
  const { workers, signal, onResult } = options;
  const started: Worker[] = [];
  const idle: Worker[] = [];
  const results: ModelResult[] = [];
  let done = 0;
  const play = async ([at, cell]: readonly [number, ModelCell]): Promise<void> => {
    const worker = idle.pop() ?? new Worker(WORKER, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
    if (!started.includes(worker)) started.push(worker);
    const result = await ask(worker, cell, signal);
    idle.push(worker);
    results[at] = result;
    done += 1;
    onResult(result, done);
  };
  try {
    await eachInFlight([...cells.entries()], workers, play);
    return results;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await Promise.all(started.map((worker) => worker.terminate()));
  }
}

async function ask(worker: Worker, cell: ModelCell, signal: AbortSignal): Promise<ModelResult> {
  worker.postMessage(cell, []);
  const [answer] = (await once(worker, 'message', { signal })) as [Answer];
  if ('result' in answer) return answer.result;
  throw new Error(`the cell ${cell.provider} ${cell.layout} ${cell.case} failed: ${answer.error}`);
}
