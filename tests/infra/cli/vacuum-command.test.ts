// The command that vacuums a table, on the embedded Datastore.
import { expect, inject, onTestFinished, test } from 'vitest';
import { openStore } from '../../../shared/store/index.ts';
import { datastoreAt } from '../../drivers/emulated.ts';
import { onDatastore, stowage } from './run-command.ts';

const FROM = 'gcp://stowage-vacuum-test';

/** Fills some dozen leaves, then deletes nine of ten records. */
async function emptied(name: string): Promise<void> {
  const store = openStore({
    driver: datastoreAt('own', inject('embeddedEndpoint'), { projectId: 'stowage-vacuum-test' }),
  });
  onTestFinished(() => store.close());
  const table = await store.table<string>(name, { order: 'key', containerBytesMax: 16_384 });
  const keys = Array.from({ length: 300 }, (_, number) => `key ${String(number).padStart(4, '0')}`);
  await table.putMany(keys.map((key) => ({ key, value: key.repeat(100) })));
  await table.deleteMany(keys.filter((_, number) => number % 10 > 0));
}

test('a vacuum merges what is small, and says how much', async () => {
  await emptied('whole');
  const { code, stdout, stderr } = await stowage(['vacuum', 'whole', '--from', FROM, '--quiet', '0'], {
    env: onDatastore(),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\d+ of \d+ containers looked at, [1-9]\d* merged, [1-9]\d* bytes moved, \d+ stripped/);
});

test('a vacuum whose time is over prints the command that goes on, which then ends', async () => {
  await emptied('short');
  const env = onDatastore();
  // The time is over before the containers were quiet for so long.
  const short = await stowage(['vacuum', 'short', '--from', FROM, '--quiet', '2', '--timeout', '2.1'], { env });
  expect(short.code).toBe(1);
  const [, command = ''] = /This goes on: stowage (.*)\n/.exec(short.stderr) ?? [];
  expect(command).toMatch(/^vacuum short --from gcp:\S+ --cursor \S+$/);
  const again = await stowage([...command.split(' '), '--quiet', '0', '--json'], { env });
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({
    merged: expect.toSatisfy((merged: number) => merged > 0) as number,
  });
});

test.each([
  [['--quiet', '120', '--timeout', '60'], '--timeout must be longer than --quiet'],
  [['--cursor', 'none'], 'begin anew, without it'],
])('vacuum refuses the options %j', async (args, message) => {
  const { code, stderr } = await stowage(['vacuum', 'none', '--from', FROM, ...args], { env: onDatastore() });
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain(message);
});
