// Files that the commands are given are UTF-8, perhaps behind a byte order mark.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { compareDeployed } from '../../../infra/cli/compare-deployed.ts';
import { commandLineOf } from '../../../infra/cli/command-options.ts';
import { PLAN_OPTIONS, planFrom } from '../../../infra/cli/plan-options.ts';
import { readReport } from '../../../infra/cli/report-files.ts';
import { readText } from '../../../infra/cli/terminal-text.ts';
import { testFolder } from '../../support/folder.ts';

const { values } = commandLineOf({ name: 'test', about: '', options: PLAN_OPTIONS, examples: [] }, []);

const READERS: [what: string, read: (file: string) => Promise<unknown>][] = [
  ['a plan', (file) => planFrom(file, values)],
  ['an earlier report', readReport],
  [
    'the file of endpoints',
    (endpointsFile) => compareDeployed({ endpointsFile } as Parameters<typeof compareDeployed>[0]),
  ],
];

test.each(READERS)('%s that is not UTF-8 is refused by its name', async (_, read) => {
  const file = path.join(await testFolder(), 'given.json');
  await writeFile(file, '{"name":"caf\u{e9}"}', 'latin1');
  await expect(read(file)).rejects.toThrow(`${file} is not UTF-8: save it as UTF-8`);
});

test('a byte order mark at the beginning of a file is skipped', async () => {
  const file = path.join(await testFolder(), 'given.json');
  await writeFile(file, '\u{feff}{"path":"/v1/\u{feff}"}');
  expect(await readText(file)).toBe('{"path":"/v1/\u{feff}"}');
});
