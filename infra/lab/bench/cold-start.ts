// Reports how long a cold function takes beside an empty one. A report, not a test: `npm run cold-start`.
import { untilInterrupted } from '../../cli/interrupt.ts';
import { command, runCommand } from '../../cli/options.ts';
import { coldStarts } from './cold-starts.ts';
import { coldStartsText } from './text.ts';

const ROUNDS = 9;

const COLD_START = command({
  name: 'npm run cold-start --',
  about: `Measures how long a cold function takes on this machine, from the start of its host to the first health and to the first record in a
table that it makes, beside an empty function: medians of ${ROUNDS} rounds, some 2 minutes.`,
  options: {},
  examples: ['npm run cold-start'],
});

await runCommand(COLD_START, process.argv.slice(2), () =>
  untilInterrupted(async (signal) => {
    console.log(coldStartsText(await coldStarts(ROUNDS, signal)));
  }),
);
