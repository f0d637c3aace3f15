// .ci/providers with a stand-in for Terraform: it says what it cannot get, and fails only where a
// configuration is wrong.
import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { testFolder } from '../support/folder.ts';

const SCRIPT = fileURLToPath(new URL('../../.ci/providers', import.meta.url));
const FOLDERS = ['gcp', 'azure', 'gcp/ci', 'azure/ci'];

let bin: string;
beforeEach(async () => {
  bin = await testFolder();
});

/**
 * Runs the script with a `terraform` of these cases, by its subcommand; undefined: with none that
 * works.
 */
async function providers(cases: string | undefined): Promise<{ code: number; output: string }> {
  const version = `*version*) echo 'Terraform v1.12.0'; echo '+ provider a/b v9.9.9' ;;`;
  await install('terraform', cases === undefined ? '*) exit 127 ;;' : `${version}\n${cases}`);
  await install('tofu', '*) exit 127 ;;');
  const env = { PATH: `${bin}:/usr/bin:/bin`, INIT_TIMEOUT_S: '1' };
  return await promisify(execFile)('bash', [SCRIPT], { env, timeout: 60_000 }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, output: stdout }),
  );
}

async function install(tool: string, cases: string): Promise<void> {
  const file = path.join(bin, tool);
  await writeFile(file, `#!/bin/sh\ncase "$*" in\n${cases}\nesac\n`);
  await chmod(file, 0o755);
}

test.each([
  ['no registry', `*init*) echo 'Error: Failed to query available provider packages'; exit 1 ;;`],
  ['a registry that does not answer', '*init*) exec sleep 30 ;;'],
])('the script, with %s, says of each folder that it was not checked', async (_name, cases) => {
  const { code, output } = await providers(cases);
  expect(code).toBe(0);
  expect(output.trim().split('\n')).toEqual(
    FOLDERS.map((folder) => `SKIPPED: infra/${folder} against the real provider, which cannot be had here`),
  );
});

test.each([
  ['cannot be read', `*init*) echo 'Error: Invalid block definition'; exit 1 ;;`, 'Invalid block'],
  ['is not valid', `*validate*) echo 'Error: Unsupported argument'; exit 1 ;;`, 'Unsupported argument'],
  ['says what is deprecated', `*validate*) echo 'Warning: Argument is deprecated' ;;`, 'deprecated'],
  ['plans something else', `*' test '*) echo 'Failure! 0 passed, 1 failed.'; exit 1 ;;`, '1 failed'],
])('the script fails where the configuration %s', async (_name, cases, message) => {
  const { code, output } = await providers(cases);
  expect(code).toBe(1);
  expect(output).toContain(message);
});

test('the script names the providers that it checked against, and the results of their plans', async () => {
  const { code, output } = await providers(`*' test '*) echo 'Success! 4 passed, 0 failed.' ;;`);
  expect(code).toBe(0);
  expect(output.match(/^infra\/\S+ plans what its tests expect: Success! 4 passed/gm)).toHaveLength(FOLDERS.length);
  expect(output.match(/^infra\/\S+ is valid under a\/b v9\.9\.9 $/gm)).toHaveLength(FOLDERS.length);
});
