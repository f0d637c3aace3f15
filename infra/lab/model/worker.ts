// Runs cells in a thread of its own, one that its parent sends after another.
import { parentPort } from 'node:worker_threads';
import type { ModelCell, ModelResult } from '../../../shared/lab/cloud/run/cell.ts';
import { runCell } from '../../../shared/lab/cloud/run/run-cell.ts';

export type Answer = { readonly result: ModelResult } | { readonly error: string };

async function answerTo(cell: ModelCell): Promise<Answer> {
  try {
    return { result: await runCell(cell) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

const port = parentPort!;
port.on('message', (cell: ModelCell) => {
  // Copied, with nothing handed over.
  void answerTo(cell).then((answer) => port.postMessage(answer, []));
});
