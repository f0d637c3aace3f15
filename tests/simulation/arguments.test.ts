// A mistake on the command line never runs other seeds.
import { expect, test } from 'vitest';
import { commandLineOf } from '../../infra/cli/command-options.ts';
import { commandOf, SIMULATE } from './arguments.ts';

const FRESH = 77;
const command = (...args: string[]) => commandOf(commandLineOf(SIMULATE, args), () => FRESH);

test.each([
  [['--seeds', '20', '--from', '5'], { kind: 'seeds', from: 5, count: 20, forMs: undefined }],
  [[], { kind: 'seeds', from: 1, count: 1_000 }],
  [['--seeds', '20', '--from', 'fresh'], { from: FRESH, count: 20 }],
  // The soak puts its own minutes before the given ones.
  [['--minutes', '10', '--minutes', '0.5'], { kind: 'seeds', from: FRESH, forMs: 30_000, count: 2 ** 31 }],
  [['--minutes', '10', '--from', '3'], { from: 3 }],
  [['--seed', '9', '--shrink'], { of: 'store', kind: 'seed', seed: 9, isShrunk: true }],
  [['--machine', '--scenario', 'a.json'], { of: 'machine', kind: 'scenario', file: 'a.json' }],
])('%j plays what it says', (args, played) => {
  expect(command(...args)).toMatchObject(played);
});

test.each([
  [['--seeds', '1.5'], '--seeds takes a whole number from 1 on, not "1.5"'],
  [['--from', ''], '--from takes'],
  [['--minutes', 'ten'], '--minutes takes a number above 0, not "ten"'],
  [['--workers', '0'], '--workers takes'],
  [['5'], '5'],
  [['--seed', '5', '--seeds', '6'], 'do not go together'],
  [['--shrink'], '--shrink needs the --seed'],
])('%j is refused with what it may be', (args, message) => {
  expect(() => command(...args)).toThrow(message);
});
