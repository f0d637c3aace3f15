// The function `compare`. Its page is open; all else needs a key of the role `compare`.
import { once } from 'node:events';
import * as z from 'zod/mini';
import {
  type CellRequest,
  cellRequestSchema,
  type CellResult,
  type DatasetRequest,
  datasetRequestSchema,
  datasetSchema,
} from '../../shared/lab/load/cell.ts';
import type { Place } from '../../shared/lab/load/place.ts';
import { CellError } from '../../shared/lab/load/run.ts';
import { type App, type Call, createApp, type FrameOptions, replyJson, type Route } from '../http/app.ts';
import { openToPages } from '../http/cors.ts';
import { codecOf, negotiated, parseJson } from '../http/content.ts';
import { Problem } from '../http/problem.ts';
import { parsed } from '../http/validate.ts';
import { type LivePage, pageServer } from './live-page.ts';

export interface CompareAppOptions extends FrameOptions {
  readonly place: () => Promise<Place>;
  readonly runCell: (request: CellRequest, signal: AbortSignal) => Promise<CellResult>;
  readonly prepareDataset: (request: DatasetRequest, signal: AbortSignal) => Promise<void>;
  /** Removes what cells of the dataset made; no error where there is nothing. */
  readonly removeDataset: (dataset: string, signal: AbortSignal) => Promise<void>;
  readonly page: LivePage;
}

const datasetPathSchema = z.object({ dataset: datasetSchema });

const CELL_BODY_BYTES_MAX = 16_384;

function keyed(method: Route['method'], path: string, handle: Route['handle']): Route {
  return { method, path: `/v1/compare/${path}`, role: 'compare', handle };
}

export function createCompareApp(options: CompareAppOptions): App {
  const page = pageServer(options.page);
  const running = new RunningCells();
  const open: Route = {
    method: 'GET',
    path: '/v1/compare',
    role: undefined,
    handle: async ({ request }) => {
      negotiated(request, ['text/html']);
      return page(request);
    },
  };
  const routes = [
    keyed('POST', 'cells', (call) => postCell(options, running, call)),
    keyed('POST', 'datasets', (call) => postDataset(options, running, call)),
    keyed('DELETE', 'datasets/:dataset', (call) => deleteDataset(options, running, call)),
    keyed('GET', 'place', async () => replyJson(await options.place())),
    open,
  ];
  // Each cloud's page calls the other cloud's function.
  return openToPages(createApp(routes, options), ['*']);
}

/** Cells and loads under way: one whose caller has gone may still write for a moment. */
class RunningCells {
  readonly #ends = new Map<string, Set<Promise<unknown>>>();

  /** Counts the cell as running until it ends, and settles as it does. */
  async during<T>(dataset: string, cell: Promise<T>): Promise<T> {
    const ends = this.#ends.get(dataset) ?? new Set();
    this.#ends.set(dataset, ends.add(cell));
    try {
      return await cell;
    } finally {
      ends.delete(cell);
      if (ends.size === 0) this.#ends.delete(dataset);
    }
  }

  /** Resolves when the dataset's cells have ended, or failed. Rejects with the signal's reason. */
  async ended(dataset: string, signal: AbortSignal): Promise<void> {
    const cells = this.#ends.get(dataset) ?? new Set<Promise<unknown>>();
    signal.throwIfAborted();
    await Promise.race([Promise.allSettled(cells), once(signal, 'abort')]);
    signal.throwIfAborted();
  }
}

async function postCell({ runCell }: CompareAppOptions, running: RunningCells, call: Call): Promise<Response> {
  const cell = await bodyOf(call, cellRequestSchema);
  try {
    return replyJson(await running.during(cell.dataset, runCell(cell, call.bounds.signal)));
  } catch (error) {
    if (error instanceof CellError) throw new Problem('unavailable', error.message, { cause: error });
    throw abortedOr(error, call, 'the deadline, or the caller, ended the cell before its time');
  }
}

async function postDataset(options: CompareAppOptions, running: RunningCells, call: Call): Promise<Response> {
  const request = await bodyOf(call, datasetRequestSchema);
  try {
    await running.during(request.dataset, options.prepareDataset(request, call.bounds.signal));
  } catch (error) {
    throw abortedOr(error, call, 'the deadline, or the caller, ended the load before its time');
  }
  return new Response(null, { status: 204 });
}

async function bodyOf<Schema extends z.core.$ZodType>(call: Call, schema: Schema): Promise<z.output<Schema>> {
  codecOf(call.request.headers.get('Content-Type'), ['json']);
  return parsed(schema, parseJson(await call.body(CELL_BODY_BYTES_MAX)));
}

function abortedOr(error: unknown, { bounds }: Call, detail: string): unknown {
  return bounds.signal.aborted ? new Problem('aborted', detail, { cause: error }) : error;
}

async function deleteDataset(options: CompareAppOptions, running: RunningCells, call: Call): Promise<Response> {
  const { signal } = call.bounds;
  const { dataset } = parsed(datasetPathSchema, { dataset: call.param('dataset') });
  try {
    await running.ended(dataset, signal);
    await options.removeDataset(dataset, signal);
  } catch (error) {
    throw abortedOr(error, call, 'the dataset was not removed before the deadline');
  }
  return new Response(null, { status: 204 });
}
