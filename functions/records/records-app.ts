// The function `records`.
import { type App, createApp, type FrameOptions } from '../http/http-app.ts';
import { openToPages, type Origins } from '../http/cors.ts';
import { recordRoutes } from './routes.ts';
import { type StoreSource, Tables } from './table-handlers.ts';

export interface RecordsAppOptions extends FrameOptions {
  readonly store: StoreSource;
  /** Every table is opened with it; default: the store's. */
  readonly containerBytesMax?: number;
  /** Pages of these origins may call; default: none. */
  readonly origins?: Origins;
}

/** The app of the function `records`; the store is opened at the first request that needs it. */
export function createRecordsApp(options: RecordsAppOptions): App {
  const routes = recordRoutes(new Tables(options), options.store);
  return openToPages(createApp(routes, options), options.origins ?? []);
}
