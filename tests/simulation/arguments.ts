// The command line of the simulation, checked before anything runs. An unknown word is an error.
import { command, type CommandLine, positiveNumber, UsageError, wholeNumber } from '../../infra/cli/command-options.ts';
import type { SimulationName } from './simulations.ts';

export type Command = { readonly of: SimulationName } &
  /** Many seeds, for at most `forMs`. */
  (
    | {
        readonly kind: 'seeds';
        readonly from: number;
        readonly count: number;
        readonly forMs: number | undefined;
        readonly workers: number | undefined;
      }
    | { readonly kind: 'seed'; readonly seed: number; readonly isShrunk: boolean }
    | { readonly kind: 'scenario'; readonly file: string }
  );

export const SIMULATE = command({
  name: 'npm run simulate --',
  about: `Plays seeds out: many clients on one store whose provider, network and clock are simulated, each from one number. A seed that fails is
printed with what it needs to fail. npm run soak takes the same options, and plays fresh seeds for 10 minutes.`,
  options: {
    seeds: { value: 'N', help: 'how many seeds; default 1000, or as many as fit into --minutes' },
    from: { value: 'N', help: 'the first seed, or "fresh" for one that chance draws; default 1, with --minutes fresh' },
    minutes: { value: 'N', help: 'ends after so many minutes' },
    workers: { value: 'N', help: 'processes; default one for each processor' },
    seed: { value: 'N', help: 'one seed alone, with everything that happened' },
    shrink: { help: 'with --seed: leaves out what its failure does not need' },
    scenario: { value: 'FILE', help: 'a scenario that shrinking left' },
    machine: { help: 'of the machine alone, fed by events, in place of the whole store' },
  },
  examples: [
    'npm run simulate -- --seeds 10000',
    'npm run simulate -- --seed 17 --shrink',
    'npm run simulate -- --machine --seeds 10000',
    'npm run soak -- --minutes 3',
  ],
});

const SEEDS_DEFAULT = 1_000;
/** More seeds than any time limit allows. */
const SEEDS_WITHOUT_END = 2 ** 31;

/** `drawSeed` finds a fresh first seed. Throws a UsageError. */
export function commandOf({ values }: CommandLine<typeof SIMULATE.options>, drawSeed: () => number): Command {
  const { seeds, from, workers, minutes, seed, scenario, shrink } = values;
  const of = values.machine ? 'machine' : 'store';
  const isMany = [seeds, from, workers, minutes].some((value) => value !== undefined);
  if ([isMany, seed !== undefined, scenario !== undefined].filter(Boolean).length > 1)
    throw new UsageError('many seeds, one --seed, or one --scenario: these do not go together');
  if (shrink && seed === undefined) throw new UsageError('--shrink needs the --seed to be shrunk');
  if (scenario !== undefined) return { of, kind: 'scenario', file: scenario };
  if (seed !== undefined) return { of, kind: 'seed', seed: wholeNumber('--seed', seed, 0), isShrunk: shrink };
  const isFresh = from === 'fresh' || (from === undefined && minutes !== undefined);
  const isTimed = seeds === undefined && minutes !== undefined;
  return {
    of,
    kind: 'seeds',
    from: isFresh ? drawSeed() : wholeNumber('--from', from ?? '1', 0),
    count: isTimed ? SEEDS_WITHOUT_END : wholeNumber('--seeds', seeds ?? String(SEEDS_DEFAULT), 1),
    forMs: minutes === undefined ? undefined : positiveNumber('--minutes', minutes) * 60_000,
    workers: workers === undefined ? undefined : wholeNumber('--workers', workers, 1),
  };
}
