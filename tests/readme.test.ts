// The README tells the truth: its library example runs and prints what it says, and it knows every error there is.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROBLEMS } from '../functions/problem.ts';

const ROOT = new URL('../', import.meta.url);
const run = promisify(execFile);

async function readme(): Promise<string> {
  return readFile(new URL('README.md', ROOT), 'utf8');
}

test('the library example runs, and prints what its comment says', async () => {
  const example = /```js\n(import \{ openStore[\s\S]*?)```/.exec(await readme())?.[1] ?? '';
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-readme-'));
  try {
    const file = path.join(folder, 'example.mjs');
    await writeFile(file, example.replaceAll("'./shared/", `'${new URL('shared/', ROOT).href}`));
    const { stdout } = await run(process.execPath, [file], { cwd: fileURLToPath(ROOT), timeout: 20_000 });
    expect(stdout).toBe(
      "[ 'written', 'conflict' ]\nuser:1 { name: 'Ada', visits: 3 }\nuser:2 { name: 'Grace', visits: 0 }\n",
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

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
