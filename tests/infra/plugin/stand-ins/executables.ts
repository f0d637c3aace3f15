// Executables with the names of the tools, for a process that runs beside the test: each passes its
// call on to the tools in the test's memory.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileFolder } from '../../../support/folder.ts';
import { listening } from '../../../support/listening.ts';
import type { Tools } from './stand-in-tools.ts';

interface Call {
  readonly tool: string;
  readonly args: readonly string[];
  readonly input: string;
}

/** A folder for PATH, until the file's tests are over. `toolsOf` gives the present test's tools. */
export async function startExecutables(toolsOf: () => Pick<Tools, 'run'>) {
  const bin = await fileFolder();
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then(async (sent) => {
      const { tool, args, input } = JSON.parse(sent) as Call;
      outgoing.end(JSON.stringify(await toolsOf().run(tool, args, { input })));
    });
  });
  const port = await listening(server);
  for (const tool of ['terraform', 'gcloud', 'az'])
    await writeFile(path.join(bin, tool), scriptOf(tool, port), { mode: 0o755 });
  return {
    bin,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
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
