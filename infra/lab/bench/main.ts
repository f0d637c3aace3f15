// The benchmark, `npm run bench`: this store against the plain SDKs on both emulators, with goals.
// A missed goal is no failure.
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { untilInterrupted } from '../../cli/interrupt.ts';
import { command, runCommand } from '../../cli/options.ts';
import { reportOn } from '../experiments/command.ts';
import { coldStarts } from './cold-starts.ts';
import { contestsOf } from './contests.ts';
import { transportsOf } from './transports.ts';

const BENCH = command({
  name: 'npm run bench --',
  about: `Measures this store against the plain SDKs, on emulators on this machine: all contests in some 8 minutes. Exits 0 whether or not the
goals are reached, 1 if something failed.`,
  options: {
    quick: { help: 'fewer and shorter turns, below 2 minutes' },
    transports: { help: 'what packing brings and what the transport, alone, in some 4 minutes' },
    cold: { help: 'cold functions alone, in some 2 minutes' },
    out: { value: 'DIR', default: 'report', help: 'where bench.json and bench.html go' },
  },
  examples: ['npm run bench -- --quick', 'npm run bench -- --cold'],
});

const WHOLE = { rounds: 5, turnMs: 700, warmUpOperations: 1_500 };
const QUICK = { rounds: 3, turnMs: 100, warmUpOperations: 250 };

const WORDS = {
  title: 'the benchmark',
  lead: [
    'This store against the plain SDK of each cloud, each side in a process of its own.',
    'Emulators on one machine answer: ratios say more than rates, and processor time varies less than either.',
  ],
  notes: [
    'A ratio is ours over that of the plain SDK. A finding holds where a ratio keeps its goal.',
    'Of several runs the lowest and the highest stand below the median.',
  ],
};

await runCommand(BENCH, process.argv.slice(2), ({ values: { quick, transports, cold, out } }) => {
  const size = quick ? QUICK : WHOLE;
  const chapterOf = transports ? transportsOf : contestsOf;
  const contests = cold ? [] : PROVIDERS.map((provider) => chapterOf(provider, size));
  const starts = transports ? [] : [coldStarts(size.rounds)];
  return untilInterrupted((signal) => reportOn([...contests, ...starts], { ...WORDS, out, name: 'bench', signal }));
});
