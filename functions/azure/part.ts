// A part of a comparison as a job of Azure Container Apps: one process, one part, one file in STOWAGE_PARTS, which is a blob container's address there.
// Jobs there have no index: each part is an execution of its own, started with its STOWAGE_PART
// (https://learn.microsoft.com/azure/container-apps/jobs#start-a-job-execution-on-demand).
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { createCompareApp } from '../compare/app.ts';
import { cellsOn } from '../compare/cells.ts';
import { partJobOf, runPartJob } from '../compare/part.ts';
import { logToStdout } from '../http/log.ts';
import { COMPARE_DEADLINES, ConfigError, parsedEnvironment } from '../instance/config.ts';
import { config, open, tables } from './instance.ts';
import { targetsOf } from './targets.ts';

const UPLOAD_TIMEOUT_MS = 60_000;

const job = partJobOf(process.env);
const { STOWAGE_PARTS: place } = parsedEnvironment(z.object({ STOWAGE_PARTS: z.string() }), process.env);
const { store } = await open();
const ended = new AbortController();
process.once('SIGTERM', () => ended.abort(new Error('ended by the platform')));

process.exitCode = await runPartJob({
  job,
  provider: 'azure-tables',
  app: createCompareApp({
    ...config,
    ...COMPARE_DEADLINES,
    auth: { mode: 'none' },
    log: logToStdout,
    page: '',
    ...cellsOn(targetsOf(import.meta.url)),
  }),
  signal: ended.signal,
  keep: async (name, text) => {
    if (place.startsWith('https://')) await upload(`${place}/${name}`, text);
    else await writeFile(path.join(place, name), text);
  },
});
await store.close();

/** By the job's identity: the accounts take no keys (https://learn.microsoft.com/rest/api/storageservices/put-blob). */
async function upload(url: string, text: string): Promise<void> {
  const { credential } = tables;
  if ('key' in credential)
    throw new ConfigError('STOWAGE_PARTS is an address: that takes an identity, not an account key');
  const token = await credential.getToken('https://storage.azure.com/.default');
  const response = await fetch(url, {
    method: 'PUT',
    headers: {
      Authorization: `Bearer ${token?.token}`,
      'Content-Type': 'application/json',
      'x-ms-blob-type': 'BlockBlob',
      'x-ms-version': '2021-12-02',
    },
    body: text,
    signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${new URL(url).origin} answered ${response.status}: the part is not kept`);
}
