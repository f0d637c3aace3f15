// Children of a process that ends in any way must be gone 5 s later, and one whose child ends, or
// is not ready in time, is told. Real processes, real signals.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findGoogleEmulator } from '../../../infra/emulators/google.ts';
import { startSupervised, untilReady } from '../../../infra/processes/supervised.ts';

const EMULATORS = fileURLToPath(new URL('../../../infra/run.mjs', import.meta.url));

/** Starts an emulator, says so, and stays. */
function starting(file: string, call: string): string {
  const url = new URL(`../../../infra/emulators/${file}`, import.meta.url).href;
  return `
    const emulators = await import(${JSON.stringify(url)});
    await emulators.${call};
    console.log('ready');
    setInterval(() => {}, 1000);`;
}

const START_AZURITE = starting('azurite.ts', 'startAzurite({ inProcess: false })');
const START_GOOGLE = starting('google.ts', 'startGoogleEmulator(await emulators.findGoogleEmulator())');

/** As npm does it: a shell in between, which nothing tells that npm is gone. */
const START_EMULATORS_AS_NPM_DOES = `
  const { spawn } = await import('node:child_process');
  const command = ${JSON.stringify(`"${process.execPath}" "${EMULATORS}" emulators; true`)};
  spawn('sh', ['-c', command], { stdio: 'inherit', env: { ...process.env, npm_lifecycle_event: 'emulators' } });`;

interface Parent {
  readonly descendants: readonly number[];
  end(signal: NodeJS.Signals): Promise<void>;
}

async function startParent(script: string): Promise<Parent> {
  const env = { ...process.env, DATASTORE_EMULATOR_HOST: '' };
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  await once(parent.stdout, 'data');
  return {
    descendants: descendantsOf(parent.pid!),
    async end(signal) {
      const exited = once(parent, 'exit');
      parent.kill(signal);
      await exited;
    },
  };
}

function descendantsOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function isAlive(pid: number): boolean {
  try {
    // A killed child that nobody has collected yet is dead all the same.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** After the parent's end: gives what lives on of what it started. */
async function endedWith(script: string, signal: NodeJS.Signals): Promise<() => readonly number[]> {
  const parent = await startParent(script);
  // The supervisor and the emulator under it; fewer would make this test pass for nothing.
  expect(parent.descendants.filter(isAlive).length).toBeGreaterThanOrEqual(2);
  await parent.end(signal);
  return () => parent.descendants.filter(isAlive);
}

const linux = process.platform === 'linux';
const google = await findGoogleEmulator({ ...process.env, DATASTORE_EMULATOR_HOST: '' });

test.runIf(linux).each(['SIGTERM', 'SIGKILL'] as const)(
  'after %s of its parent no Azurite lives on',
  async (signal) => {
    await expect.poll(await endedWith(START_AZURITE, signal)).toEqual([]);
  },
);

test.runIf(linux)('after SIGKILL of the npm that started them no emulators live on', async () => {
  await expect.poll(await endedWith(START_EMULATORS_AS_NPM_DOES, 'SIGKILL')).toEqual([]);
});

test.runIf(linux && google.found)('after SIGKILL of the process that started it no Java lives on', async () => {
  await expect.poll(await endedWith(START_GOOGLE, 'SIGKILL')).toEqual([]);
});

/** `npm run emulators`, once it has printed what to export. */
async function startEmulators(env: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(process.execPath, [EMULATORS, 'emulators', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const [printed] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { printed, exited, processes: descendantsOf(child.pid!), errors: text(child.stderr) };
}

const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');

test.runIf(linux)('each emulator has a process of its own; if one ends, the command ends and says which', async () => {
  const { exited, processes, errors } = await startEmulators({});
  const running = (entry: RegExp) => processes.filter((pid) => entry.test(commandOf(pid)));
  expect(running(/^\S+ \S+emulator-process\.ts datastore/)).toHaveLength(1);
  const [azurite] = running(/^\S+ \S+emulator-process\.ts strict-azurite/);
  process.kill(azurite!, 'SIGKILL');
  expect(await exited).toEqual([1, null]);
  expect(await errors).toContain('Azurite behind a strict front has ended');
  await expect.poll(() => processes.filter(isAlive)).toEqual([]);
});

test.runIf(linux)('--datastore google gives Google’s emulator, as npm run dev does', async () => {
  const { printed } = await startEmulators({ DATASTORE_EMULATOR_HOST: '127.0.0.1:9' }, '--datastore', 'google');
  expect(printed).toContain('export DATASTORE_EMULATOR_HOST=127.0.0.1:9\n');
});

test('a machine without gcloud is told why there is no emulator and how to get one', async () => {
  const missing = await findGoogleEmulator({ PATH: '/nonexistent' });
  expect(missing).toMatchObject({
    found: false,
    why: expect.stringContaining('gcloud is not on PATH'),
    howTo: expect.stringContaining('gcloud components install cloud-firestore-emulator'),
  });
});

test('a child that ends before it is ready is an error with its output', async () => {
  const child = startSupervised(process.execPath, ['-e', 'console.log("why it failed"); process.exit(3)']);
  const ready = untilReady('the child', child, () => false, 20_000);
  await expect(ready).rejects.toThrow(/exit code 3[^]*why it failed/);
});

test('a child that is never ready is ended and reported', async () => {
  const child = startSupervised(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await expect(untilReady('the child', child, () => false, 300)).rejects.toThrow('not ready after 300 ms');
  expect(await child.exited).not.toBe(0);
});
