// Plays the cells that its parent thread sends, one after another.
import { parentPort } from 'node:worker_threads';
import { type Cell, play } from '../../../shared/lab/scale/play-row.ts';

const port = parentPort!;
port.on('message', (cell: Cell) => {
  play(cell).then(
    (played) => port.postMessage(played, []),
    (error: unknown) => port.postMessage({ error: error instanceof Error ? error.stack : String(error) }, []),
  );
});
