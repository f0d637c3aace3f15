// The list of differences beside the emulator is the one the protocol suite goes by, each names a case that there is, and what it quotes
// from Google's definitions stands there. `npx vitest run -u` on this file writes the list anew.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { Difference } from './declare.ts';
import { FIRESTORE_DIFFERENCES, LEGACY_DIFFERENCES } from './differences.ts';
import { SUITE } from './suite.ts';

const LIST = new URL('../../../../infra/emulators/datastore/DIFFERENCES.md', import.meta.url);
const ALL = [...FIRESTORE_DIFFERENCES, ...LEGACY_DIFFERENCES];

function section(title: string, differences: readonly Difference[]): string {
  const items = differences.map((each) => `- **${each.case}**: ${each.why}${each.hangs === true ? ' (skipped)' : ''}.`);
  return `## ${title}\n\n${items.join('\n')}\n`;
}

const TEXT = `# Where Google's emulators differ

One protocol suite (\`tests/infra/emulators/datastore\`) runs on this server and on Google's two emulators. This server passes all of it. Below is
what the others do not pass: the case as the suite states it, what the emulator does instead, and who says that the case is right. Words in
quotation marks are the comments of Google's definitions of \`google.datastore.v1\`; "limits page" and "transactions page" are the service's
documentation. Where neither decides, it says so. A case listed here must fail there, so that a difference that has gone away is noticed;
only those marked "skipped" are not tried, since they would hang.

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
