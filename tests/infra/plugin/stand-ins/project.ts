// A copy of the plugin's part of this project, where the Serverless Framework runs with the test's
// tools alone on PATH: no cloud, no login.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const CLI = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');
const TIMEOUT_MS = 100_000;

/** The framework is large: compiling it anew takes a third of every start. */
const { NODE_COMPILE_CACHE = '' } = process.env;
const COMPILE_CACHE = NODE_COMPILE_CACHE === '' ? {} : { NODE_COMPILE_CACHE };

export interface Ended {
  readonly code: number | null;
  /** Both streams, as they came. */
  readonly output: string;
}

export async function copyProject() {
  const dir = await mkdtemp(path.join(tmpdir(), 'stowage-project-'));
  for (const name of ['functions', 'infra', 'shared', 'serverless.yml', 'package.json', 'package-lock.json'])
    await cp(path.join(ROOT, name), path.join(dir, name), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(dir, 'node_modules'));
  return {
    dir,
    /** `bin` becomes PATH. */
    start: (bin: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
      start(dir, args, { PATH: bin, HOME: dir, NO_COLOR: '1', ...COMPILE_CACHE, ...env }),
    close: () => rm(dir, { recursive: true, force: true }),
  };
}

function start(dir: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, output }));
  });
  return { pid: child.pid!, ended };
}
