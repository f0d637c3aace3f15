// A report names the sources that the command ran from.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sourceFacts } from '../../../infra/cli/comparison.ts';
import { commitOf } from '../../../infra/package/build-facts.ts';
import { testFolder } from '../../support/folder.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('a command from a checkout says versions and commit', async () => {
  const { versions, commit } = await sourceFacts(new URL('infra/cli/stowage.ts', `file://${ROOT}`).href);
  expect(versions).toMatchObject({
    '@stowage/store': expect.any(String),
    '@google-cloud/datastore': expect.any(String),
  });
  expect(commit).toBe(await commitOf(ROOT));
  expect(commit ?? '0'.repeat(40)).toMatch(/^[\da-f]{40}\+?$/);
});

test('a command from a package says nothing of sources, whatever repository it is installed in', async () => {
  expect(await sourceFacts('file:///project/node_modules/stowage/dist/cli.js')).toEqual({ versions: {}, commit: null });
});

test('outside of a repository there is no commit', async () => {
  expect(await commitOf(await testFolder())).toBeNull();
});
