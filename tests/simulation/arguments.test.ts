// A mistake on the command line never runs other seeds.
import { expect, test } from 'vitest';
import { commandLineOf } from '../../infra/cli/command-options.ts';
import { commandOf, SIMULATE } from './arguments.ts';

const FRESH = 77;
const command = (...args: string[]) => commandOf(commandLineOf(SIMULATE, args), () => FRESH);

test('the command line says how many seeds are played, and where they begin', () => {
  expect(command('--seeds', '20', '--from', '5')).toMatchObject({
    kind: 'seeds',
    from: 5,
    count: 20,
    forMs: undefined,
  });
  expect(command()).toMatchObject({ kind: 'seeds', from: 1, count: 1_000 });
  expect(command('--seeds', '20', '--from', 'fresh')).toMatchObject({ from: FRESH });
});

test('a soak takes fresh seeds until its time is over, and the minutes that were given last count', () => {
  const soak = command('--minutes', '10', '--minutes', '0.5');
  expect(soak).toMatchObject({ kind: 'seeds', from: FRESH, forMs: 30_000 });
  expect(soak).toHaveProperty('count', 2 ** 31);
  expect(command('--minutes', '10', '--from', '3')).toMatchObject({ from: 3 });
});

test('the command line names one seed, or one scenario', () => {
  expect(command('--seed', '9', '--shrink')).toEqual({ of: 'store', kind: 'seed', seed: 9, isShrunk: true });
  expect(command('--scenario', 'a.json')).toEqual({ of: 'store', kind: 'scenario', file: 'a.json' });
});

test.each([
  [['--seeds', 'many'], '--seeds takes a whole number from 1 on, not "many"'],
  [['--seeds', '0'], '--seeds takes a whole number from 1 on, not "0"'],
  [['--seeds', '1.5'], '--seeds takes'],
  [['--from', ''], '--from takes'],
  [['--minutes', '-1'], '--minutes'],
  [['--minutes', 'ten'], '--minutes takes a number above 0, not "ten"'],
  [['--workers', '0'], '--workers takes'],
  [['--sedes', '5'], '--sedes'],
  [['5'], '5'],
  [['--seed', '5', '--seeds', '6'], 'do not go together'],
  [['--shrink'], '--shrink needs the --seed'],
])('%j is refused with what it may be', (args, message) => {
  expect(() => command(...args)).toThrow(message);
});
