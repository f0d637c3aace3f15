// npm run merge-model: the model at length. Shows the steps to the first violation.
import { command, runCommand, wholeNumber } from '../../../infra/cli/options.ts';
import { exhaust, type Finding } from './exhaust.ts';
import { SMALL } from './small.ts';
import { firstFinding } from './walk.ts';

const MERGE_MODEL = command({
  name: 'npm run merge-model --',
  about: `Judges the rules of merging by a small model of them: takes every history of some small configurations, then many random ones. npm test does
the same with fewer. Fails at the first violation, and shows what leads to it.`,
  options: {
    walks: { value: 'N', default: '20000', help: 'random histories' },
    seed: { value: 'N', default: '1', help: 'that of the first; a finding names its own' },
  },
  examples: ['npm run merge-model -- --walks 100000 --seed 5001'],
});

await runCommand(MERGE_MODEL, process.argv.slice(2), async ({ values }) => {
  const count = wholeNumber('--walks', values.walks, 1);
  const from = wholeNumber('--seed', values.seed, 0);
  for (const small of SMALL) {
    const { finding, places } = exhaust(small);
    console.log(`${String(places).padStart(7)} places: ${small.name}`);
    if (finding !== undefined) return show(finding);
  }
  const finding = firstFinding({ from, count });
  if (finding !== undefined) return show(finding, finding.seed);
  console.log(`${String(count).padStart(7)} walks from seed ${from}`);
  return 0;
});

function show({ what, steps }: Finding, seed?: number): number {
  for (const step of steps) console.log(JSON.stringify(step));
  console.log(`FAILED${seed === undefined ? '' : ` with seed ${seed}`}: ${what}`);
  return 1;
}
