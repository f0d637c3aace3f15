// Standard output that cannot be written to.
import { EXIT } from './exit.ts';
import { warn } from './print.ts';

/**
 * Ends the process as soon as its output is lost: quietly if the reader has gone, like `head` does,
 * else with a line.
 */
export function endWithoutOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.readerGone);
    warn(`the output cannot be written: ${error.message}`);
    process.exit(EXIT.failed);
  });
}
