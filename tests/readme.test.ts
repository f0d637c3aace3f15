// The README tells the truth: its library's examples run, print what they say and are right in TypeScript, and it knows every error there is.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startSupervised, untilReady } from '../infra/local/emulators/supervised.ts';
import { PROBLEMS } from '../functions/problem.ts';

const ROOT = new URL('../', import.meta.url);
const run = promisify(execFile);

async function readme(): Promise<string> {
  return readFile(new URL('README.md', ROOT), 'utf8');
}

/** A snippet of the library's section, by what it names, in a file of its own beside what it imports, as in the project's folder. */
async function withSnippet<T>(name: string, more: string, use: (file: string) => Promise<T>): Promise<T> {
  const section = /\n## The library\n[^]*?\n## /.exec(await readme())?.[0] ?? '';
  const snippet = [...section.matchAll(/```[jt]s\n([^]*?)```/g)]
    .map(([, text]) => text!)
    .find((text) => text.includes(name));
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-readme-'));
  try {
    for (const part of ['shared', 'node_modules']) await symlink(new URL(part, ROOT), path.join(folder, part));
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
    const file = path.join(folder, 'snippet.ts');
    await writeFile(file, `${snippet}${more}`);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('the library example runs, and prints what its comment says', async () => {
  await withSnippet('memoryDriver', '', async (file) => {
    const { stdout } = await run(process.execPath, [file], { timeout: 20_000 });
    expect(stdout).toBe(
      "[ 'written', 'conflict' ]\nuser:1 { name: 'Ada', visits: 3 }\nuser:2 { name: 'Grace', visits: 0 }\n",
    );
  });
});

const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

test.each(['memoryDriver', 'azureTablesDriver'])('the example with %s is right in strict TypeScript', async (name) => {
  await withSnippet(name, '', async (file) => {
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions', '--types', 'node'];
    const languages = ['--module', 'nodenext', '--target', 'es2024'];
    const { stdout } = await run(process.execPath, [tsc, ...options, ...languages, file], {
      cwd: path.dirname(file),
      timeout: 60_000,
    }).catch((error: unknown) => error as { stdout: string });
    expect(stdout).toBe('');
  });
});

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
  const emulators = startSupervised(process.execPath, [fileURLToPath(new URL('infra/local/emulators.mjs', ROOT))]);
  try {
    await untilReady(
      'the emulators',
      emulators,
      () => /^export STOWAGE_TABLES_KEY=.*\n/m.test(emulators.output()),
      60_000,
    );
    const exports = emulators
      .output()
      .split('\n')
      .filter((line) => line.startsWith('export '));
    await withSnippet('azureTablesDriver', USE_DRIVERS, async (file) => {
      const command = [...exports, `exec '${process.execPath}' '${file}'`].join('\n');
      const { stdout } = await run('sh', ['-c', command], { timeout: 60_000 });
      expect(stdout).toBe('datastore\nazure-tables\n');
    });
  } finally {
    await emulators.close();
  }
}, 120_000);

const STORE_CODES = [
  'conflict',
  'not_found',
  'too_large',
  'invalid',
  'throttled',
  'unavailable',
  'unknown',
  'corrupt',
  'aborted',
];

test.each(STORE_CODES)('the table of errors has a row for "%s"', async (code) => {
  expect(await readme()).toMatch(new RegExp(`^\\| \`${code}\` .*\\| \\d{3}`, 'm'));
});

test.each(Object.entries(PROBLEMS))('the HTTP error "%s" is named with its status', async (code, { status }) => {
  const text = (await readme()).replaceAll(/\s+/g, ' ');
  const rows = text.split(/(?=[|,]|- )/).join('');
  expect(rows).toContain(`\`${code}\``);
  expect(rows).toContain(String(status));
});
