// DIFFERENCES.md lists the differences that the protocol suite goes by, and Google's definitions
// hold its quotations. `vitest run -u` on this file rewrites it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { Difference } from './declare.ts';
import { FIRESTORE_DIFFERENCES, LEGACY_DIFFERENCES } from './differences.ts';
import { SUITE } from './suite.ts';

const LIST = new URL('../../../../infra/emulators/datastore/DIFFERENCES.md', import.meta.url);
const ALL = [...FIRESTORE_DIFFERENCES, ...LEGACY_DIFFERENCES];

function section(title: string, differences: readonly Difference[]): string {
  const rows = differences.map((each, at) => [each.case, ...partsOf(each, differences[at - 1])]);
  return `## ${title}\n\n${tableOf([['case', 'instead', 'who is right'], ...rows])}\n`;
}

/**
 * The server's behaviour, and behind the first semicolon the authority, if any. Said once of alike
 * neighbours.
 */
function partsOf({ why, hangs }: Difference, before: Difference | undefined): string[] {
  if (why === before?.why) return ['as above', ''];
  const [instead, ...right] = why.split('; ');
  return [`${instead}${hangs === true ? ' (skipped)' : ''}`, right.join('; ')];
}

function tableOf(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [head!, widths.map((width) => '-'.repeat(width)), ...body].map(lineOf).join('\n');
}

const TEXT = `# Where Google's emulators differ

One protocol suite (\`tests/infra/emulators/datastore\`) runs on this server, which passes all of it, and on Google's
two emulators. These cases they do not pass. Words in quotation marks are comments of Google's definitions of
\`google.datastore.v1\`; "limits page" and "transactions page" are the service's documentation. A case listed here must
fail there, so that a difference that has gone is noticed. Those marked "skipped" are not tried: they would hang.

${section('Firestore emulator 1.19.9 in Datastore mode', FIRESTORE_DIFFERENCES)}
${section('Legacy Datastore emulator 2.3.1', LEGACY_DIFFERENCES)}`;

test('the list beside the emulator is what the suite goes by', async () => {
  await expect(TEXT).toMatchFileSnapshot(LIST.pathname);
});

test('every difference names a case of the suite', () => {
  const titles: string[] = [];
  for (const cases of SUITE) cases((title) => titles.push(title));
  expect(ALL.map((each) => each.case).filter((title) => !titles.includes(title))).toEqual([]);
  expect(new Set(titles).size).toBe(titles.length);
});

test('what is quoted stands in the definitions', () => {
  const folder = createRequire(import.meta.url).resolve('@google-cloud/datastore-api/package.json');
  const definitions = ['datastore', 'entity', 'query'].map((name) =>
    readFileSync(new URL(`build/protos/google/datastore/v1/${name}.proto`, `file://${folder}`), 'utf8'),
  );
  const words = plain(definitions.join('\n').replaceAll(/^\s*\/\//gm, ''));
  const quoted = ALL.flatMap(({ why }) => [...why.matchAll(/"([^"]+)"/g)].map(([, quote]) => quote!));
  expect(quoted.length).toBeGreaterThan(20);
  expect(quoted.filter((quote) => !words.includes(plain(quote)))).toEqual([]);
});

/** Without marks, and without where links lead. */
function plain(text: string): string {
  return text
    .replaceAll(/\[([^\]]+)\]\[[^\]]+\]/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
