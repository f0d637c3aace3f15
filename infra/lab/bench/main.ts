// The benchmark, `npm run bench`: this store against the plain SDKs on both emulators, in one run, with the ratios of rates and of processor
// time that each kind of work is to reach. Exits 0 whether or not they are reached: it measures, it is no test.
import { untilInterrupted } from '../../cli/interrupt.ts';
import { machine } from '../../cli/machine.ts';
import { command, runCommand } from '../../cli/options.ts';
import { type ColdStart, coldStarts } from './cold-starts.ts';
import type { ContestResult } from './contest/contest.ts';
import { contestsOf } from './contests.ts';
import { startAzure, startDatastore } from './providers.ts';
import { type StoredBytes, weighStored } from './stored.ts';
import { coldStartsText, contestsText, storedText } from './text.ts';

const BENCH = command({
  name: 'npm run bench --',
  about: `Measures this store against the plain SDKs, on emulators on this machine: all contests in some 8 minutes. Exits 0 whether or not the
goals are reached.`,
  options: {
    quick: { help: 'fewer and shorter turns, below 2 minutes' },
    cold: { help: 'cold functions alone, in some 2 minutes' },
    json: { help: 'one JSON object on standard output, and nothing else' },
  },
  examples: ['npm run bench -- --quick', 'npm run bench -- --cold --json'],
});

/** `warmUpOperations`: puts of each side, and as many gets, alone; and as many in company. */
const WHOLE = { rounds: { count: 5, turnMs: 700 }, warmUpOperations: 1_500 };
const QUICK = { rounds: { count: 3, turnMs: 100 }, warmUpOperations: 250 };

/** All that a run measures. */
interface Results {
  readonly contests: ContestResult[];
  readonly stored: StoredBytes[];
  readonly coldStarts: ColdStart[];
  /** Names of the emulators. */
  readonly backends: string[];
}

await runCommand(BENCH, process.argv.slice(2), ({ values: { quick, cold, json } }) =>
  untilInterrupted(async (signal) => {
    const size = quick ? QUICK : WHOLE;
    const log = json ? (): void => {} : console.error;
    const results: Results = { contests: [], stored: [], coldStarts: [], backends: [] };
    for (const start of cold ? [] : [startDatastore, startAzure]) {
      const provider = await start();
      results.backends.push(provider.backend);
      try {
        results.contests.push(...(await contestsOf(provider, { ...size, signal, log })));
        results.stored.push(await weighStored(provider));
      } finally {
        await provider.close();
      }
    }
    log('cold starts ...');
    results.coldStarts.push(...(await coldStarts(size.rounds.count, signal)));
    console.log(json ? JSON.stringify({ ...results, machine: machine() }) : textOf(results, size.rounds.count));
  }),
);

function textOf({ contests, stored, coldStarts: cold, backends }: Results, rounds: number): string {
  const on = machine();
  const warm =
    contests.length === 0
      ? []
      : [contestsText('rate', contests), contestsText('processor', contests), storedText(stored)];
  const where = [`${on.cores} x ${on.cpu}`, `Node.js ${on.node}`, ...backends].join(', ');
  return ['', ...warm, coldStartsText(cold), `Medians of ${rounds} alternating rounds: ${where}.`].join('\n\n');
}
