// A copy of the plugin's part of this project, where the Serverless Framework runs without cloud
// and login: each tool on its PATH is an executable that passes its call on to the test's memory.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from '../../../../infra/package/bundle.ts';
import { fileFolder } from '../../../support/folder.ts';
import { listening } from '../../../support/listening.ts';
import type { Tools } from './stand-in-tools.ts';

const CLI = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');
const TIMEOUT_MS = 240_000;

/** The framework is large: compiling it anew takes a third of every start. */
const { NODE_COMPILE_CACHE = '' } = process.env;
const COMPILE_CACHE = NODE_COMPILE_CACHE === '' ? {} : { NODE_COMPILE_CACHE };

interface Ended {
  readonly code: number | null;
  /** Both streams, as they came. */
  readonly output: string;
}

interface Call {
  readonly tool: string;
  readonly args: readonly string[];
  readonly input: string;
}

/** `toolsOf` gives the present test's tools. */
export async function startProject(toolsOf: () => Pick<Tools, 'run'>) {
  const dir = await mkdtemp(path.join(tmpdir(), 'stowage-project-'));
  for (const name of ['functions', 'infra', 'shared', 'serverless.yml', 'package.json', 'package-lock.json'])
    await cp(path.join(ROOT, name), path.join(dir, name), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(dir, 'node_modules'));
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then(async (sent) => {
      const { tool, args, input } = JSON.parse(sent) as Call;
      outgoing.end(JSON.stringify(await toolsOf().run(tool, args, { input })));
    });
  });
  const port = await listening(server);
  // Not in the project, whose executables would be ES modules.
  const bin = await fileFolder();
  for (const tool of ['terraform', 'gcloud', 'az'])
    await writeFile(path.join(bin, tool), scriptOf(tool, port), { mode: 0o755 });
  return {
    dir,
    start: (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
      start(dir, args, { PATH: bin, HOME: dir, NO_COLOR: '1', ...COMPILE_CACHE, ...env }),
    close: () => {
      server.closeAllConnections();
      server.close();
      return rm(dir, { recursive: true, force: true });
    },
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

/** A command calls two dozen of them: with nothing to load but `http` each takes 40 ms. */
function scriptOf(tool: string, port: number): string {
  return `#!${process.execPath}
const { request } = require('node:http');
const call = (args, input) => {
  const sent = request({ port: ${port}, method: 'POST' }, (response) => {
    let text = '';
    response.on('data', (part) => (text += part)).on('end', () => {
      const { code, stdout, stderr } = JSON.parse(text);
      process.stdout.write(stdout, () => process.stderr.write(stderr, () => process.exit(code)));
    });
  });
  sent.end(JSON.stringify({ tool: '${tool}', args, input }));
};
let input = '';
process.stdin.on('data', (part) => (input += part)).on('end', () => call(process.argv.slice(2), input));
process.once('SIGINT', () => call(['ended', 'in', 'order'], ''));
`;
}
