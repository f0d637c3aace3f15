// A part of a comparison as a job of Cloud Run: one process, one part, one file in the folder STOWAGE_PARTS, which is a bucket there.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { createCompareApp } from '../compare/app.ts';
import { cellsOn } from '../compare/cells.ts';
import { partJobOf, runPartJob } from '../compare/part.ts';
import { COMPARE_DEADLINES, parsedEnvironment } from '../instance/config.ts';
import { config, log, open } from './instance.ts';
import { targetsOf } from './targets.ts';

const job = partJobOf(process.env);
const { STOWAGE_PARTS: folder } = parsedEnvironment(z.object({ STOWAGE_PARTS: z.string() }), process.env);
// Before this process listens to SIGTERM itself: an opened store would end it at once.
const { store } = await open();
const ended = new AbortController();
process.removeAllListeners('SIGTERM');
process.once('SIGTERM', () => ended.abort(new Error('ended by the platform')));

process.exitCode = await runPartJob({
  job,
  provider: 'datastore',
  app: createCompareApp({
    ...config,
    ...COMPARE_DEADLINES,
    auth: { mode: 'none' },
    log,
    page: '',
    ...cellsOn(targetsOf(import.meta.url)),
  }),
  signal: ended.signal,
  keep: async (name, text) => await writeFile(path.join(folder, name), text),
});
await store.close();
