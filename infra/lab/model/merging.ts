// `npm run merging`: the stories of merging on modelled clouds, in virtual time, against their goals.
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { goalFinding } from '../../../shared/lab/report/chapters/goal.ts';
import { mergingStories } from '../../../shared/lab/plan/merging/stories.ts';
import { command, runCommand, wholeNumber } from '../../cli/options.ts';

/** In fewer, half of them is no day. */
const CYCLES_MIN = 50;
const CYCLES_MAX = 10_000;
const SEED_MAX = 0xffff_ffff;

const MERGING = command({
  name: 'npm run merging --',
  about: `A MODEL of the clouds, no measurement: what a vacuum that merges makes of tables that were hot, emptied, busy, or breathe, in virtual time.
Some ten minutes with 100 cycles. Exit code 1 if a goal is missed.`,
  options: {
    seed: { value: 'N', default: '1', help: 'everything random follows from it' },
    cycles: {
      value: 'N',
      default: '100',
      help: 'hours of the table that breathes; what was merged is removed after 24',
    },
  },
  examples: ['npm run merging -- --cycles 50'],
});

await runCommand(MERGING, process.argv.slice(2), async ({ values }) => {
  const seed = wholeNumber('--seed', values.seed, 0, SEED_MAX);
  const cycles = wholeNumber('--cycles', values.cycles, CYCLES_MIN, CYCLES_MAX);
  let missed = 0;
  for (const provider of PROVIDERS) {
    for await (const { story, figure, value, goal } of mergingStories(provider, seed, cycles)) {
      const { verdict, text } = goalFinding(`${provider}, ${story}, ${figure}`, value, goal ?? {});
      if (verdict === 'does not hold') missed += 1;
      console.log(goal === undefined ? text : `${verdict}: ${text}`);
    }
  }
  console.log(missed === 0 ? '\nall goals hold' : `\n${missed} goals do not hold`);
  if (missed > 0) process.exitCode = 1;
});
