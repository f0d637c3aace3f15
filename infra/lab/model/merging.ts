// `npm run merging`: the stories of merging on modelled clouds, in virtual time, against their goals.
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { decimal } from '../../../shared/lab/kit/format.ts';
import type { MergingFigure } from '../../../shared/lab/plan/merging/stage.ts';
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
    for await (const figure of mergingStories(provider, seed, cycles)) {
      const verdict = verdictOf(figure);
      if (verdict.startsWith('MISSED')) missed += 1;
      const value = Number.isInteger(figure.value) ? String(figure.value) : decimal(figure.value);
      console.log(`${provider}, ${figure.story}, ${figure.figure}: ${value} ${verdict}`.trimEnd());
    }
  }
  console.log(missed === 0 ? '\nall goals are met' : `\n${missed} goals are missed`);
  if (missed > 0) process.exitCode = 1;
});

function verdictOf({ value, goal }: MergingFigure): string {
  if (goal === undefined) return '';
  if ('atLeast' in goal)
    return value >= goal.atLeast ? `met (at least ${goal.atLeast})` : `MISSED (at least ${goal.atLeast})`;
  return value <= goal.atMost ? `met (at most ${goal.atMost})` : `MISSED (at most ${goal.atMost})`;
}
