// The function `records` as routes: who may call what, and which handler answers.
import * as z from 'zod/mini';
import { type App, createApp, type FrameOptions, type Route } from '../http/app.ts';
import { batchRoute } from './batch.ts';
import { openToPages, type Origins } from '../http/cors.ts';
import { lookRoutes } from './look.ts';
import { documentRoute, RECORD_KEY } from './operations.ts';
import { patchRecord } from './patch.ts';
import { readyRoute } from './ready.ts';
import { deleteRecord, getRecord, putRecord } from './record.ts';
import { scanRoutes } from './scan.ts';
import { type StoreSource, tableRoutes, Tables } from './tables.ts';

export interface RecordsAppOptions extends FrameOptions {
  readonly store: StoreSource;
  /** Every table is opened with it; default: the store's. */
  readonly containerBytesMax?: number;
  /** Pages of these origins may call; default: none. */
  readonly origins?: Origins;
}

/** A record's key in the path; or in the query, as front ends decode the %2F of a path. */
const RECORD_PLACES = [
  { path: '/v1/tables/:table/records/:key' },
  { path: '/v1/tables/:table/record', query: z.strictObject({ key: RECORD_KEY }) },
] as const;

/** The app of the function `records`; the store is opened at the first request that needs it. */
export function createRecordsApp(options: RecordsAppOptions): App {
  const tables = new Tables(options);
  const headers = ['Stowage-Ttl-Ms'];
  const routes: Route[] = [
    ...RECORD_PLACES.flatMap((place): Route[] => [
      { method: 'GET', ...place, role: 'read', handle: (call) => getRecord(tables, call) },
      { method: 'PUT', ...place, role: 'write', headers, handle: (call) => putRecord(tables, call) },
      { method: 'PATCH', ...place, role: 'write', headers, handle: (call) => patchRecord(tables, call) },
      { method: 'DELETE', ...place, role: 'write', handle: (call) => deleteRecord(tables, call) },
    ]),
    ...scanRoutes(tables),
    batchRoute(tables),
    ...tableRoutes(tables),
    ...lookRoutes(options.store),
    readyRoute(options.store),
  ];
  const app = createApp([...routes, documentRoute(routes)], options);
  return openToPages(app, options.origins ?? []);
}
