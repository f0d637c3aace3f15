// npm run soak: the simulation for long, or real processes with --real.
import { command, positiveNumber, runCommand, wholeNumber } from '../../infra/cli/command-options.ts';
import { soak } from './real.ts';

const SOAK = command({
  name: 'npm run soak --',
  about: `Without --real: fresh seeds of the simulation for 10 minutes, with the options of npm run simulate. With it:`,
  options: {
    real: { help: 'processes on the real drivers, before both emulators; network, provider and processes fail' },
    minutes: { value: 'N', help: 'no new round after so many; default 3' },
    seed: { value: 'N', help: 'of the first round; default drawn by chance' },
  },
  examples: ['npm run soak -- --minutes 30', 'npm run soak -- --real --minutes 10'],
});

const args = process.argv.slice(2);
if (args.some((arg) => ['--real', '--help'].includes(arg))) await runCommand(SOAK, args, run);
else {
  process.argv.splice(2, 0, '--minutes', '10');
  await import('../simulation/simulate.ts');
}

async function run({
  values: { minutes = '3', seed },
}: {
  values: { real: boolean; minutes?: string | undefined; seed?: string | undefined };
}): Promise<void> {
  const first = seed === undefined ? 1 + Math.floor(Math.random() * 2 ** 31) : wholeNumber('--seed', seed, 0);
  const forMs = 60_000 * positiveNumber('--minutes', minutes);
  const failed = await soak({ forMs, seed: first, log: console.log });
  console.log(`${failed} failed, from seed ${first}`);
  process.exit(failed > 0 ? 1 : 0);
}
