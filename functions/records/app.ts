// The function `records` as routes: who may call what, and which handler answers.
import { type App, createApp, type FrameOptions, type Route } from '../http/app.ts';
import { batchRoute } from './batch.ts';
import { openToPages, type Origins } from '../http/cors.ts';
import { lookRoutes } from './look.ts';
import { documentRoute } from './operations.ts';
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

/** The app of the function `records`; the store is opened at the first request that needs it. */
export function createRecordsApp(options: RecordsAppOptions): App {
  const tables = new Tables(options);
  const path = '/v1/tables/:table/records/:key';
  const headers = ['Stowage-Ttl-Ms'];
  const routes: Route[] = [
    { method: 'GET', path, role: 'read', handle: (call) => getRecord(tables, call) },
    { method: 'PUT', path, role: 'write', headers, handle: (call) => putRecord(tables, call) },
    { method: 'PATCH', path, role: 'write', headers, handle: (call) => patchRecord(tables, call) },
    { method: 'DELETE', path, role: 'write', handle: (call) => deleteRecord(tables, call) },
    ...scanRoutes(tables),
    batchRoute(tables),
    ...tableRoutes(tables),
    ...lookRoutes(options.store),
    readyRoute(options.store),
  ];
  const app = createApp([...routes, documentRoute(routes)], options);
  return openToPages(app, options.origins ?? []);
}
