// Every command says what it does and takes, and refuses what it does not know before it starts
// anything.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { choice, command, commandLineOf, wholeNumber } from '../../../infra/cli/command-options.ts';
import { startHost } from '../../../infra/hosts/local-host.ts';
import { DEV, devOptionsOf, START, startOptionsOf } from '../../../infra/start/start-options.ts';
import { DEFAULT_PLAN, PLANS } from '../../../shared/lab/plan/plan.ts';
import { listening } from '../../support/listening.ts';
import { type Ended, runCommand } from './run-command.ts';

const { scripts } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>;
};
const NAMES = 'start dev emulators scale growth figures simulate soak mutants';
const COMMANDS: [name: string, script: string][] = [
  ...NAMES.split(' ').map((name): [string, string] => [name, scripts[name]!]),
  ...['stowage', 'stowage compare', 'stowage cost'].map((name): [string, string] => [
    name,
    name.replace('stowage', 'node infra/cli/stowage.ts'),
  ]),
];

function ended(script: string, ...args: string[]): Promise<Ended> {
  return runCommand([...script.replace(/^node /, '').split(' '), ...args]);
}

/** A port that somebody listens on, until the test ends. */
async function takenPort(): Promise<number> {
  const other = createServer();
  onTestFinished(() => void other.close());
  return await listening(other);
}

test.each(COMMANDS)('%s says with --help what it takes, by what name, and an example', async (_, script) => {
  const { code, stdout } = await ended(script, '--help');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^(npm|stowage) .*\[options\]\n\n[A-Z][^]*--help +this text\n\nExamples:\n {2}(npm|stowage) /);
});

/** Ends with 2 before it has started anything. Gives what it says. */
async function refusalOf(name: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ended(scripts[name]!, ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).not.toMatch(/^ +at /m);
  return stderr;
}

test.each(['--datastore-port', '--table-port'])('emulators refuses with %s a port that is taken', async (option) => {
  const port = await takenPort();
  const message = `${option}: port ${port} of 127.0.0.1 cannot be listened on: choose another\n`;
  expect(await refusalOf('emulators', option, String(port))).toContain(message);
});

const FOLDER = /--\w+ takes a folder that can be written to: EEXIST/;

test.each([
  ['growth', ['--nonsense'], /^Unknown option '--nonsense'\.?\nAll options: npm .*--help\n$/],
  ['stowage', ['copy', '--nonsense'], /^Unknown option '--nonsense'\.?\nAll options: stowage copy --help\n$/],
  ['emulators', ['--network', 'slow'], /^--network takes cloud, none, or a round trip/],
  ['start', ['--out', 'package.json'], FOLDER],
  ['dev', ['--data', 'package.json'], FOLDER],
  // A browser or fetch would not call one of them.
  ['dev', ['--port', '10077'], /^--port: browsers refuse to call port 10080: choose another\n/],
  ['simulate', ['--scenario', 'nowhere.json'], /^--scenario: ENOENT: no such file/],
])('%s refuses %j before it starts anything', async (name, args, message) => {
  expect(await refusalOf(name, ...args)).toMatch(message);
});

const startOptions = async (...args: string[]) => await startOptionsOf(commandLineOf(START, args), args);
const devOptions = (...args: string[]) => devOptionsOf(commandLineOf(DEV, args));

describe('npm start', () => {
  test('runs the default plan on both clouds', async () => {
    expect(await startOptions()).toEqual({
      plan: DEFAULT_PLAN,
      baseline: { report: undefined, conditions: [] },
      command: `npm start -- --seed ${DEFAULT_PLAN.seed}`,
      providers: ['datastore', 'azure-tables'],
      datastore: 'embedded',
      network: expect.objectContaining({ name: 'cloud' }) as unknown,
      outDir: 'report',
    });
    expect((await startOptions('full')).plan).toEqual(PLANS.full);
  });
});

test('npm start takes a round trip of one’s own, which Google’s emulator has none of', async () => {
  expect((await startOptions('--network=2.50ms', '--cloud', 'gcp')).network.name).toBe('2.5ms');
  expect((await startOptions('--datastore', 'google')).network.name).toBe('none');
  await expect(startOptions('--datastore', 'google', '--network', 'cloud')).rejects.toThrow(
    '--network does not go with --datastore google',
  );
  for (const network of ['25', '0ms', '10001ms'])
    await expect(startOptions('--network', network)).rejects.toThrow(/^--network takes cloud, none, or a round trip/);
});

describe('npm run dev', () => {
  test.each([
    [['--port=65533'], '--port takes a whole number from 1 to 65532'],
    [['--read-key=short'], '--read-key takes 16 or more'],
    [['--admin-key=two-keys-of-mine,with-a-comma'], '--admin-key takes'],
    [['--data=d', '--datastore=google'], '--data does not go with --datastore google'],
  ])('%j is refused', (args, message) => {
    expect(() => devOptions(...args)).toThrow(message);
  });
});

test('a host is not started on a port that is taken, and the error says so', async () => {
  const port = await takenPort();
  // It would answer the probe for the host's health otherwise.
  await expect(startHost('a host', ['--eval', ''], {}, port)).rejects.toThrow(`port ${port} of 127.0.0.1`);
});

describe('a command line', () => {
  const declared = command({
    name: 'tool',
    operands: ['<file>'],
    about: 'Does it.',
    options: { size: { value: 'N', default: '3', help: 'how large' }, loud: { help: 'tells more' } },
    examples: ['tool a --size 4'],
  });

  test('gives values with their defaults, flags, operands, and itself as one types it', () => {
    expect(commandLineOf(declared, ['a'])).toEqual({
      values: { size: '3', loud: false },
      operands: ['a'],
      typed: 'tool a',
    });
    const given = commandLineOf(declared, ['--loud', "it's", '--size=1', '--size=2']);
    expect(given.values).toEqual({ size: '2', loud: true });
    expect(given.typed).toBe(String.raw`tool --loud 'it'\''s' --size=1 --size=2`);
  });

  test.each([[[]], [['a', 'b']], [['a', '--loud=yes']], [['a', '--size']]])('%j is refused', (args) => {
    expect(() => commandLineOf(declared, args)).toThrow(expect.objectContaining({ name: 'UsageError' }));
  });

  test('has numbers and choices that mean what they say', () => {
    expect(['007', '0', '1e9', '2.5E3'].map((text) => wholeNumber('--n', text, 0))).toEqual([7, 0, 1e9, 2_500]);
    for (const text of ['', ' 1', '9'.repeat(20), ...'-1 1M 1_000 1,000 1.5 1.23e1 0x10 NaN Infinity 1e13'.split(' ')])
      expect(() => wholeNumber('--n', text, 0, 1e12)).toThrow('--n takes a whole number from 0 to 1000000000000, not');
    expect(choice('--c', 'b', ['a', 'b'])).toBe('b');
  });
});
