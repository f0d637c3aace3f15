// The function `compare`. Only its page needs no key of the role `compare`.
import { once } from 'node:events';
import * as z from 'zod/mini';
import {
  type CellRequest,
  cellRequestSchema,
  type CellResult,
  type DatasetRequest,
  datasetRequestSchema,
  datasetSchema,
  type Place,
} from '../../shared/lab/load/cell.ts';
import { CellError } from '../../shared/lab/load/run-cell.ts';
import { type App, createApp, type FrameOptions } from '../http/http-app.ts';
import { openToPages } from '../http/cors.ts';
import { codecOf, negotiated, parseJson } from '../http/content.ts';
import { Problem } from '../http/problem.ts';
import { type Call, replyJson, type RouteTable } from '../http/route.ts';
import { parsed } from '../http/validate.ts';
import type { Examine } from './doctor.ts';
import { pageServer } from './live-page.ts';

export interface CompareAppOptions extends FrameOptions {
  readonly place: () => Promise<Place>;
  readonly runCell: (request: CellRequest, signal: AbortSignal) => Promise<CellResult>;
  readonly prepareDataset: (request: DatasetRequest, signal: AbortSignal) => Promise<void>;
  /** Removes what cells of the dataset made; no error where there is nothing. */
  readonly removeDataset: (dataset: string, signal: AbortSignal) => Promise<void>;
  readonly examine: Examine;
  /** HTML. */
  readonly page: Uint8Array;
}

const doctorRequestSchema = z.strictObject({ transport: z.enum(['own', 'sdk']) });

const datasetPathSchema = z.object({ dataset: datasetSchema });

const CELL_BODY_BYTES_MAX = 16_384;

export function createCompareApp(options: CompareAppOptions): App {
  const page = pageServer(options.page);
  const running = new RunningCells();
  const role = 'compare';
  const routes: RouteTable = {
    'GET /v1/compare': {
      role: undefined,
      summary: "The comparison's page, which runs one from a browser's tab; a link's fragment fills in its form.",
      handle: async ({ request }) => {
        negotiated(request, ['text/html']);
        return page();
      },
    },
    'GET /v1/compare/place': {
      role,
      summary: 'Where this instance runs, and from what it was built.',
      handle: async () => replyJson(await options.place()),
    },
    'POST /v1/compare/cells': {
      role,
      summary: 'Runs one cell of a comparison next to its store.',
      body: bodyOf(cellRequestSchema),
      handle: (call) => postCell(options, running, call),
    },
    'POST /v1/compare/datasets': {
      role,
      summary: 'Loads a dataset.',
      body: bodyOf(datasetRequestSchema),
      handle: (call) => postDataset(options, running, call),
    },
    'DELETE /v1/compare/datasets/:dataset': {
      role,
      summary: 'Removes a dataset when its cells have ended.',
      handle: (call) => deleteDataset(options, running, call),
    },
    'POST /v1/compare/doctor': {
      role,
      summary: "Tries the driver contract's promises over a transport: how many, and which are broken.",
      body: bodyOf(doctorRequestSchema),
      handle: (call) => postDoctor(options, call),
    },
  };
  // Each cloud's page calls the other cloud's function.
  return openToPages(createApp(routes, options), ['*']);
}

function bodyOf(schema: z.core.$ZodType) {
  return { bytesMax: CELL_BODY_BYTES_MAX, content: { 'application/json': schema } };
}

/** Cells and loads under way, which may still write for a moment after their caller has gone. */
class RunningCells {
  readonly #ends = new Map<string, Set<Promise<unknown>>>();

  /** Counts the cell as running until it ends. Settles as it does. */
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
  const cell = await jsonOf(call, cellRequestSchema);
  const run = running.during(cell.dataset, runCell(cell, call.bounds.signal));
  return replyJson(await inTime(run, call, 'the deadline, or the caller, ended the cell before its time'));
}

async function postDataset(options: CompareAppOptions, running: RunningCells, call: Call): Promise<Response> {
  const request = await jsonOf(call, datasetRequestSchema);
  const load = running.during(request.dataset, options.prepareDataset(request, call.bounds.signal));
  await inTime(load, call, 'the deadline, or the caller, ended the load before its time');
  return new Response(null, { status: 204 });
}

async function postDoctor({ examine }: CompareAppOptions, call: Call): Promise<Response> {
  const { transport } = await jsonOf(call, doctorRequestSchema);
  const examination = examine(transport, call.bounds.signal);
  return replyJson(
    await inTime(examination, call, 'the deadline, or the caller, ended the examination before its time'),
  );
}

async function jsonOf<Schema extends z.core.$ZodType>(call: Call, schema: Schema): Promise<z.output<Schema>> {
  codecOf(call.request.headers.get('Content-Type'), ['json']);
  return parsed(schema, parseJson(await call.body()));
}

/** Turns an error of the work into a Problem, which is `aborted` if the call's time is over. */
async function inTime<T>(work: Promise<T>, { bounds }: Call, late: string): Promise<T> {
  return work.catch((cause: unknown) => {
    if (cause instanceof CellError) throw new Problem('unavailable', cause.message, { cause });
    throw bounds.signal.aborted ? new Problem('aborted', late, { cause }) : cause;
  });
}

async function deleteDataset(options: CompareAppOptions, running: RunningCells, call: Call): Promise<Response> {
  const { signal } = call.bounds;
  const { dataset } = parsed(datasetPathSchema, { dataset: call.param('dataset') });
  const removal = running.ended(dataset, signal).then(() => options.removeDataset(dataset, signal));
  await inTime(removal, call, 'the dataset was not removed before the deadline');
  return new Response(null, { status: 204 });
}
