// npm run soak: the simulation for long, real processes with --real, a host with --load.
import { command, positiveNumber, runCommand, UsageError, wholeNumber } from '../../infra/cli/options.ts';
import { load } from './load.ts';
import { soak } from './real.ts';

const SOAK = command({
  name: 'npm run soak --',
  about: `Without --real and --load: fresh seeds of the simulation for 10 minutes, with the options of npm run simulate. With one of them:`,
  options: {
    real: { help: 'processes on the real drivers, before both emulators; network, provider and processes fail' },
    load: { help: '256 callers of one records host over HTTP; tells its memory and its longest turns' },
    minutes: { value: 'N', help: 'no new round after so many; default 3, with --load 15' },
    seed: { value: 'N', help: 'with --real: of the first round; default drawn by chance' },
  },
  examples: ['npm run soak -- --minutes 30', 'npm run soak -- --real --minutes 10', 'npm run soak -- --load'],
});

const args = process.argv.slice(2);
if (args.some((arg) => ['--real', '--load', '--help'].includes(arg))) await runCommand(SOAK, args, run);
else {
  process.argv.splice(2, 0, '--minutes', '10');
  await import('../simulation/simulate.ts');
}

async function run({
  values,
}: {
  values: { real: boolean; load: boolean; minutes?: string | undefined; seed?: string | undefined };
}): Promise<void> {
  const { minutes, seed } = values;
  if (values.real && values.load) throw new UsageError('--real and --load do not go together');
  const forMs = 60_000 * positiveNumber('--minutes', minutes ?? (values.real ? '3' : '15'));
  const first = seed === undefined ? 1 + Math.floor(Math.random() * 2 ** 31) : wholeNumber('--seed', seed, 0);
  const failed = values.real ? await soak({ forMs, seed: first, log: console.log }) : await load(forMs, console.log);
  if (values.real) console.log(`${failed} failed, from seed ${first}`);
  process.exit(failed > 0 ? 1 : 0);
}
