// The function `vacuum` as a route: one run over all tables. A platform's scheduler asks for it, or whoever has an admin's key.
import type { Store } from '../../shared/store/index.ts';
import { type App, type Call, createApp, type FrameOptions, replyJson } from '../http/app.ts';
import { queryOf } from '../http/paths.ts';
import { Problem } from '../http/problem.ts';
import { runLine, vacuumAll } from './run.ts';

/** The frame's options, the store, and what the platform knows of its scheduler. */
export interface VacuumAppOptions extends FrameOptions {
  readonly store: () => Promise<Store>;
  /** Whether the platform's gate let this request in as its scheduler's. Default: never. */
  readonly isScheduler?: (request: Request) => boolean;
  /** Takes the line of a run. */
  readonly print: (line: string) => void;
}

/** The app of the function `vacuum`: `POST /v1/vacuum`. */
export function createVacuumApp(options: VacuumAppOptions): App {
  return createApp(
    [{ method: 'POST', path: '/v1/vacuum', role: undefined, handle: (call) => postVacuum(options, call) }],
    options,
  );
}

async function postVacuum(
  { store, isScheduler = () => false, print }: VacuumAppOptions,
  call: Call,
): Promise<Response> {
  const { request, bounds } = call;
  if (!isScheduler(request)) call.authorize('admin');
  queryOf(request, []);
  const run = await vacuumAll(await store(), bounds);
  print(runLine(run));
  if (run.failed.length === 0) return replyJson(run);
  const names = run.failed.map(({ table, code }) => `${table} (${code})`).join(', ');
  throw new Problem('unavailable', `not all tables were vacuumed: ${names}; the next run looks at all of them again`);
}
