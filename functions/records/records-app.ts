// The function `records`.
import * as z from 'zod/mini';
import { TABLE_NAME } from '../../shared/store/index.ts';
import { openToPages, type Origins } from '../http/cors.ts';
import { type App, createApp, type FrameOptions, HEALTH } from '../http/http-app.ts';
import { openApi } from '../http/openapi-document.ts';
import { jsonAnswer, reply, type RouteTable } from '../http/route.ts';
import { batchRoutes } from './batch.ts';
import { RECORD_KEY, recordRoutes } from './record-handlers.ts';
import { listRoutes } from './scan-handlers.ts';
import { lookRoutes, readyRoutes, type StoreSource, tableRoutes, Tables } from './table-handlers.ts';

export interface RecordsAppOptions extends FrameOptions {
  readonly store: StoreSource;
  /** Every table is opened with it; default: the store's. */
  readonly containerBytesMax?: number;
  /** Pages of these origins may call; default: none. */
  readonly origins?: Origins;
}

/** The schemas of the parameters in paths. */
const IN_PATH = { table: z.string().check(z.regex(TABLE_NAME)), key: RECORD_KEY };

/** The app of the function `records`; the store is opened at the first request that needs it. */
export function createRecordsApp(options: RecordsAppOptions): App {
  const tables = new Tables(options);
  let document: string | undefined;
  const routes: RouteTable = {
    ...readyRoutes(options.store),
    'GET /v1/openapi.json': {
      role: undefined,
      id: 'openApi',
      summary: 'This document, in OpenAPI 3.1.',
      answers: { 200: jsonAnswer('OpenAPI 3.1.', z.looseObject({ openapi: z.string() })) },
      handle: async () => {
        document ??= JSON.stringify(openApi({ ...HEALTH, ...routes }, IN_PATH));
        return reply('application/json', document, { 'Cache-Control': 'public, max-age=3600' });
      },
    },
    ...tableRoutes(tables),
    ...recordRoutes(tables),
    ...listRoutes(tables),
    ...batchRoutes(tables),
    ...lookRoutes(tables),
  };
  return openToPages(createApp(routes, options), options.origins ?? []);
}
