// `npm run dev`: keeps both clouds running until Ctrl-C, and prints addresses and keys to paste.
import { once } from 'node:events';
import path from 'node:path';
import { EXIT } from '../cli/exit.ts';
import { makeFolder } from '../cli/report-folder.ts';
import { refusing, runCommand, UsageError } from '../cli/command-options.ts';
import { openLink } from '../../shared/lab/page/link.ts';
import { checkJournal } from '../emulators/datastore/storage/journal.ts';
import { freePort } from '../processes/supervised.ts';
import { type Clouds, DATA_FILES, type RunningCloud, startClouds, watch } from './local-clouds.ts';
import { runJob } from './job.ts';
import { lockFolder } from './lock-folder.ts';
import { DEV, type DevOptions, devOptionsOf } from './start-options.ts';

/** Two functions on each of two clouds. */
const PORTS = 4;

await runCommand(DEV, process.argv.slice(2), async (given) => {
  const options = devOptionsOf(given);
  await checkPorts(options.firstPort);
  const release = await takeData(options.dataDir);
  try {
    return await runJob((signal) => serve(options, signal));
  } finally {
    await release();
  }
});

/** Runs before anything starts, because a port in use would end what has started by then. */
async function checkPorts(firstPort: number | undefined): Promise<void> {
  if (firstPort === undefined) return;
  for (let port = firstPort; port < firstPort + PORTS; port += 1) {
    await refusing('--port', () => freePort(port));
    if (await isRefused(port)) throw new UsageError(`--port: browsers refuse to call port ${port}: choose another`);
  }
}

/** fetch refuses some 80 well-known ports of other services, as browsers do. */
async function isRefused(freePort: number): Promise<boolean> {
  const error = await fetch(`http://127.0.0.1:${freePort}`).catch((thrown: unknown) => thrown);
  return error instanceof TypeError && (error.cause as Error).message === 'bad port';
}

/** Resolves to the folder's release. */
async function takeData(dataDir: string | undefined): Promise<() => Promise<void>> {
  if (dataDir === undefined) return async () => {};
  await makeFolder('--data', dataDir);
  for (const file of Object.values(DATA_FILES)) await refusing('--data', () => checkJournal(path.join(dataDir, file)));
  return await lockFolder('--data', dataDir);
}

async function serve(options: DevOptions, signal: AbortSignal): Promise<number> {
  const { dataDir } = options;
  console.log('Starting emulators and functions ...');
  const clouds = await startClouds({ ...options, log: () => {}, signal });
  try {
    const failure = new AbortController();
    for (const cloud of clouds.running) watch(cloud, console.error, (why) => failure.abort(why));
    console.log(told(clouds, dataDir));
    await untilAborted(AbortSignal.any([signal, failure.signal]));
    if (signal.aborted) return EXIT.ok;
    console.error(failure.signal.reason);
    return EXIT.failed;
  } finally {
    await clouds.close();
  }
}

function told({ running, keys }: Clouds, dataDir: string | undefined): string {
  const data =
    dataDir === undefined
      ? 'The data is gone when this ends.'
      : `The data is kept in ${path.resolve(dataDir)} as it is written.`;
  return [
    ...running.map(linesFor),
    '',
    `Keys that may less, in place of the admin's: read ${keys.read}, write ${keys.write}`,
    `The key of both comparisons, which opens nothing else: ${keys.compare}`,
    `The comparison in a browser, filled in: ${linkOf(running, keys)}`,
    `${data} Ctrl-C ends it.`,
  ].join('\n');
}

function linkOf(running: Clouds['running'], { compare: key, functions: gate }: Clouds['keys']): string {
  const urls = Object.fromEntries(running.map(({ provider, compareUrls }) => [provider, compareUrls[0]]));
  return openLink(urls, { datastore: { key }, 'azure-tables': { key, gate } });
}

function linesFor({ name, recordsUrl, headers: headersOf }: RunningCloud): string {
  const headers = headersOf('records');
  const gate = headers['x-functions-key'];
  return `
# ${name}
export URL=${recordsUrl}
export H='Authorization: ${headers['Authorization']}'
export GATE=${gate === undefined ? '' : `'x-functions-key: ${gate}'`}`;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  // A signal listener alone does not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  if (!signal.aborted) await once(signal, 'abort');
  clearInterval(alive);
}
