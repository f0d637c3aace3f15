// A machine that deploys to one cloud in memory: the real Terraform on a copy of infra/<cloud>,
// with a provider, gcloud, az and requests that work on that cloud.
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { vi } from 'vitest';
import type { Context } from '../../../../../infra/plugin/context/context.ts';
import type { ProviderSettings } from '../../../../../infra/plugin/context/schema.ts';
import { settingsOf } from '../../../../../infra/plugin/context/settings.ts';
import type { Ended, Run } from '../../../../../infra/plugin/context/tools.ts';
import { FUNCTION_SETTINGS, PROVIDER_SETTINGS } from '../settings.ts';
import { type Cloud, openSandbox, type Sandbox, schemaOf } from '../terraform.ts';
import { Arm } from './arm.ts';
import { az } from './az.ts';
import { testClock } from './clock.ts';
import { gcloud } from './gcloud.ts';
import { Google } from './google.ts';

export type CloudMachine = Awaited<ReturnType<typeof startCloudMachine>>;

/** Takes this process's PATH and its fetch, until it is closed. */
export async function startCloudMachine(cloud: Cloud) {
  const clock = testClock();
  const arm = new Arm(await schemaOf('azure'));
  const google = new Google(await schemaOf('gcp'), clock);
  const keeping = cloud === 'gcp' ? google : arm;
  const sandbox = await openSandbox(cloud, {}, keeping.computed, keeping);
  const outDir = await mkdtemp(path.join(tmpdir(), 'stowage-out-'));
  const before = process.env['PATH'];
  process.env['PATH'] = `${await toolsIn(outDir)}${path.delimiter}${before}`;
  for (const name of ['records', 'compare']) await writeFile(path.join(outDir, `${cloud}-${name}.zip`), name);
  const said: string[] = [];
  const calls: string[] = [];
  let failing: { readonly begin: string; readonly said: string } | undefined;
  const run: Run = async (tool, args, options = {}) => {
    const call = [tool, ...args.filter((one) => !one.startsWith('-chdir='))].join(' ');
    calls.push(call);
    if (failing !== undefined && call.startsWith(failing.begin)) return { code: 1, stdout: '', stderr: failing.said };
    if (tool === 'az') return az(arm, args);
    if (tool === 'gcloud') return gcloud(google, args);
    return await terraform(sandbox, args, options.env);
  };
  vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) => answered(arm, google, url, init));
  return {
    arm,
    google,
    clock,
    sandbox,
    /** Lines shown to the user. */
    said,
    /** Every call of a tool so far, `terraform` without its folder. */
    calls,
    /** Fails calls that begin so, with what they print; undefined: none. */
    fail: (begin: string | undefined, text = '') =>
      void (failing = begin === undefined ? undefined : { begin, said: text }),
    contextOf: (provider: Partial<ProviderSettings> = {}, service = 'stowage'): Context => ({
      settings: settingsOf(service, { ...PROVIDER_SETTINGS, cloud, ...provider }, FUNCTION_SETTINGS, outDir),
      run,
      clock,
      log: (line) => void said.push(line),
    }),
    /** Gives what puts the machine and its cloud back as they are now, as often as it is called. */
    async keep() {
      const [folders, cloudKept, clockKept] = [await keptFolders(sandbox, outDir), keeping.keep(), clock.keep()];
      const lists: unknown[][] = [said, calls, sandbox.provider.applied];
      const contents = lists.map((list) => [...list]);
      return async () => {
        await folders();
        cloudKept();
        clockKept();
        for (const [index, list] of lists.entries()) list.splice(0, list.length, ...contents[index]!);
        failing = undefined;
      };
    },
    async close() {
      process.env['PATH'] = before;
      vi.unstubAllGlobals();
      await Promise.all([sandbox.close(), rm(outDir, { recursive: true, force: true })]);
    },
  };
}

/**
 * Copies the sandbox's folder and another; gives what puts the copies in their places. The copies
 * go with the sandbox.
 */
async function keptFolders({ dir, env }: Sandbox, other: string): Promise<() => Promise<void>> {
  const folders = [dir, other];
  const copies = await mkdtemp(path.join(env['HOME']!, 'kept-'));
  const copyOf = (index: number): string => path.join(copies, String(index));
  for (const [index, folder] of folders.entries()) await cp(folder, copyOf(index), { recursive: true });
  return async () => {
    for (const [index, folder] of folders.entries()) {
      await rm(folder, { recursive: true });
      await cp(copyOf(index), folder, { recursive: true });
    }
  };
}

/** The plugin looks for the tools before it calls them. */
async function toolsIn(outDir: string): Promise<string> {
  const bin = path.join(outDir, 'bin');
  await mkdir(bin);
  for (const tool of ['az', 'gcloud']) {
    await writeFile(path.join(bin, tool), '');
    await chmod(path.join(bin, tool), 0o755);
  }
  return bin;
}

function terraform({ dir, env }: Sandbox, args: readonly string[], more: object = {}): Promise<Ended> {
  const moved = args.map((one) => (one.startsWith('-chdir=') ? `-chdir=${dir}` : one));
  return new Promise((resolve) => {
    execFile('terraform', moved, { env: { ...env, ...more }, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr });
    });
  });
}

async function answered(arm: Arm, google: Google, url: string, init: RequestInit): Promise<Response> {
  const { hostname, pathname } = new URL(url);
  const asked = {
    method: init.method ?? 'GET',
    path: pathname,
    headers: Object.fromEntries(new Headers(init.headers)),
    body: typeof init.body === 'string' ? init.body : '',
  };
  const { status, body } = hostname.endsWith('.a.run.app')
    ? google.answer(hostname, asked)
    : arm.sites.answer(hostname, asked);
  return await Promise.resolve(new Response(body, { status }));
}
