// README is true: its examples run and answer as it says.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startSupervised, untilReady } from '../infra/processes/supervised.ts';
import { testFolder } from './support/folder.ts';

const ROOT = new URL('../', import.meta.url);
const run = promisify(execFile);

async function readme(): Promise<string> {
  return readFile(new URL('README.md', ROOT), 'utf8');
}

test('the library example runs with the command that stands above it, and prints what its comment says', async () => {
  const text = await readme();
  const [, file, command, example] = /As `(\S+)` in this folder, `([^`]+)`.*\s+```ts\n(import[^]*?)```/.exec(text)!;
  const folder = await testFolder();
  // The project's own folder, as far as the example and npx see it.
  for (const name of ['shared', 'node_modules', 'package.json'])
    await symlink(fileURLToPath(new URL(name, ROOT)), path.join(folder, name));
  await writeFile(path.join(folder, file!), example!);
  const { stdout } = await run('sh', ['-c', command!], { cwd: folder, timeout: 100_000 });
  expect(stdout).toBe(
    "[ 'written', 'conflict' ]\nuser:1 { name: 'Ada', visits: 3 }\nuser:2 { name: 'Grace', visits: 0 }\n",
  );
});

const KEYS = {
  read: 'read-key-of-the-test',
  write: 'write-key-of-the-test',
  admin: 'admin-key-of-the-test',
  functions: 'functions-key-of-the-test',
};
const SLOW_MS = 180_000;
const DEV = fileURLToPath(new URL('infra/run.mjs', ROOT));

/** Starts `npm run dev`. `clouds` holds the lines to paste that it prints, a text for each. */
async function startDev(dataDir: string): Promise<{ child: ChildProcess; clouds: string[]; output: string }> {
  const keys = Object.entries(KEYS).map(([role, key]) => `--${role}-key=${key}`);
  const child = spawn(process.execPath, [DEV, 'dev', `--data=${dataDir}`, ...keys], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill());
  let output = '';
  for await (const line of createInterface({ input: child.stdout })) {
    output += `${line}\n`;
    if (line.includes('Ctrl-C ends it')) break;
  }
  const clouds = output.split(/^# /m).slice(1);
  return { child, output, clouds: clouds.map((cloud) => cloud.match(/^export .*$/gm)!.join('\n')) };
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGINT');
  await once(child, 'exit');
}

/** Pastes the lines of `npm run dev`, runs the commands, and returns their HTTP statuses. */
async function statusesOf(pasted: string, commands: string): Promise<string[]> {
  const quiet = commands.replaceAll(/^curl /gm, "curl -s -o /dev/null -w '%{http_code}\\n' ");
  const { stdout } = await run('sh', ['-euc', `${pasted}\n${quiet}`], { timeout: 60_000 });
  return stdout.trim().split('\n');
}

test(
  'the HTTP examples work with the lines that npm run dev prints, on both clouds, and find their data after a restart',
  async () => {
    const examples = /```sh\n(curl[^]*?)```/.exec(await readme())![1]!;
    const dataDir = await testFolder();
    const first = await startDev(dataDir);
    for (const key of Object.values(KEYS)) expect(first.output).toContain(key);
    expect(first.clouds).toHaveLength(2);
    for (const pasted of first.clouds)
      expect(await statusesOf(pasted, examples)).toEqual(['201', '204', '200', '412', '200', '200']);
    await end(first.child);
    const second = await startDev(dataDir);
    const read = examples.split('\n')[2]!;
    expect(read).not.toContain('-X');
    for (const pasted of second.clouds) expect(await statusesOf(pasted, read)).toEqual(['200']);
    await end(second.child);
  },
  SLOW_MS,
);

/** The file of the drivers' snippet, as if in the project's folder. */
async function fileOfSnippet(more: string): Promise<string> {
  const text = await readFile(new URL('shared/drivers/README.md', ROOT), 'utf8');
  const snippet = /```js\n([^]*?)```/.exec(text)![1]!;
  const folder = await testFolder();
  for (const part of ['shared', 'node_modules']) await symlink(new URL(part, ROOT), path.join(folder, part));
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  const file = path.join(folder, 'snippet.ts');
  await writeFile(file, `${snippet}${more}`);
  return file;
}

const USE_DRIVERS = `
const { openStore } = await import(${JSON.stringify(new URL('shared/store/index.ts', ROOT).href)});
for (const driver of [onDatastore, onAzure]) {
  const store = openStore({ driver });
  const table = await store.table('users');
  await table.put('k', driver.limits.provider);
  console.log((await table.get('k'))?.value);
  await store.close();
}`;

test('the drivers’ example works as written with what `npm run emulators` prints', async () => {
  const emulators = startSupervised(process.execPath, [fileURLToPath(new URL('infra/run.mjs', ROOT)), 'emulators']);
  try {
    const isReady = () => /^export STOWAGE_TABLES_KEY=.*\n/m.test(emulators.output());
    await untilReady('the emulators', emulators, isReady, 60_000);
    const exports = emulators.output().match(/^export .*$/gm)!;
    const file = await fileOfSnippet(USE_DRIVERS);
    const command = [...exports, `exec '${process.execPath}' '${file}'`].join('\n');
    const { stdout } = await run('sh', ['-c', command], { timeout: 60_000 });
    expect(stdout).toBe('datastore\nazure-tables\n');
  } finally {
    await emulators.close();
  }
}, 120_000);
