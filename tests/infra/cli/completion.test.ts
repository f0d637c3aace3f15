// What the shells complete, by the very text that `stowage completion` prints.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { onPath } from '../../../infra/processes/on-path.ts';
import { runCommand, STOWAGE } from './run-command.ts';

const SHELLS = [
  ['bash', await onPath('bash'), ''],
  // So its arrays begin at 0, as they do while it completes.
  ['zsh', await onPath('zsh'), 'setopt ksh_arrays;'],
] as const;

for (const [name, path] of SHELLS)
  if (path === undefined) console.warn(`SKIPPED: completion in ${name}, which is not on PATH`);

describe.each(SHELLS)('in %s', (name, path, options) => {
  const printing = runCommand([STOWAGE, 'completion', name]);

  /** The words offered for the last of a command line's words. */
  async function offered(...words: string[]): Promise<string[]> {
    const { stdout: printed } = await printing;
    const line = ['stowage', ...words].map((word) => `'${word}'`).join(' ');
    const asked = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _stowage; echo "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)(path!, ['-c', `${printed}\n${options}${asked}`]);
    const found = stdout.split(/\s+/).filter((word) => word !== '');
    // zsh itself leaves out what begins otherwise.
    return name === 'zsh' ? found.filter((word) => word.startsWith(words.at(-1)!)) : found;
  }

  test.skipIf(path === undefined).each([
    [['co'], ['compare', 'completion', 'cost', 'copy', 'compare-with', 'count']],
    [
      ['copy', 'users', '--'],
      ['--from', '--to', '--as', '--state', '--ranges', '--help'],
    ],
    [
      ['import', 'in.csv', '--order', ''],
      ['hash', 'key'],
    ],
    // Names that only the user knows: the shell itself offers files.
    [['copy', '--from', ''], []],
    [['nothing', ''], []],
  ])('%j offers %j', async (words, wanted) => {
    expect((await offered(...words)).toSorted()).toEqual(wanted.toSorted());
  });
});
