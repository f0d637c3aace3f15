// The output of commands: data ends no line, moves no cursor, and turns no text in it.
import { readdir, readFile } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { printable, printableKey, printableLines, warnOf } from '../../../infra/cli/print.ts';
import { HOSTILE, ROOT } from './run-command.ts';

const ESCAPED = String.raw`\u001b[2J a\u000avictim \u009b2J \u202egnp.exe \u2028 \u007f\u000d`;

test('a line keeps its letters and tabs, and loses what acts on a terminal', () => {
  expect(printable(HOSTILE)).toBe(ESCAPED);
  expect(printable('\tcafé 日本 😀')).toBe('\tcafé 日本 😀');
  expect(printableLines('a\n\u009bb')).toBe('a\n\\u009bb');
});

test('a key is printed as it is, or as JSON that gives it back', () => {
  expect(['ada', 'é', 'a\\u001b'].map(printableKey)).toEqual(['ada', 'é', 'a\\u001b']);
  for (const key of [HOSTILE, '"quoted"', '\t']) {
    expect(printableKey(key)).toMatch(/^"[^\p{Cc}\u202e]*"$/u);
    expect(JSON.parse(printableKey(key))).toBe(key);
  }
});

test('further lines of an error cannot be taken for lines of the command', () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  warnOf(new Error('no record\n3 records were put \u001b[2J'));
  expect(said.mock.calls).toEqual([[String.raw`no record` + '\n' + String.raw`  3 records were put \u001b[2J`]]);
});

test('no other module of the commands writes to the terminal', async () => {
  const folder = new URL('infra/cli/', `file://${ROOT}`);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const writing = await Promise.all(
    files.map(async (file) => ((await readFile(new URL(file, folder), 'utf8')).includes('console.') ? [file] : [])),
  );
  expect(writing.flat()).toEqual(['print.ts']);
});
