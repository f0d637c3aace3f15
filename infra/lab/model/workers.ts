// Shares a plan's cells out to worker threads. A cell's result depends on the cell alone: how many workers there are changes nothing but the time.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ModelCell, ModelResult } from '../../../shared/lab/cloud/run/cell.ts';
import type { Answer } from './worker.ts';

const WORKER = new URL('worker.ts', import.meta.url);

/** Requests and replies die young: with Node.js's own 16 MB a fifth of the time would go into collecting garbage. */
const YOUNG_MB = 128;

export interface WorkersOptions {
  readonly workers: number;
  readonly signal: AbortSignal;
  readonly onResult: (result: ModelResult, done: number) => void;
}

/** The results, in the order of the cells. Rejects with the first cell that failed, or the signal's reason. */
export async function runCells(cells: readonly ModelCell[], options: WorkersOptions): Promise<ModelResult[]> {
  const { workers, signal, onResult } = options;
  const results: ModelResult[] = [];
  let next = 0;
  let done = 0;
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const work = async (): Promise<void> => {
    const worker = new Worker(WORKER, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
    try {
      for (let at = next++; at < cells.length; at = next++) {
        const result = await ask(worker, cells[at]!, ended);
        results[at] = result;
        done += 1;
        onResult(result, done);
      }
    } catch (error) {
      failed.abort(error);
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, cells.length) }, work));
  ended.throwIfAborted();
  return results;
}

async function ask(worker: Worker, cell: ModelCell, signal: AbortSignal): Promise<ModelResult> {
  worker.postMessage(cell, []);
  const [answer] = (await once(worker, 'message', { signal })) as [Answer];
  if ('result' in answer) return answer.result;
  throw new Error(`the cell ${cell.provider} ${cell.layout} ${cell.case} failed: ${answer.error}`);
}
