// A route that vacuums all tables, for a platform's scheduler or an admin's key.
import * as z from 'zod/mini';
import type { Store } from '../../shared/store/index.ts';
import { type App, createApp, type FrameOptions } from '../http/http-app.ts';
import { Problem } from '../http/problem.ts';
import { type Call, replyJson, type RouteTable } from '../http/route.ts';
import { type RunOptions, runLine, vacuumAll } from './vacuum-all.ts';

export interface VacuumAppOptions extends FrameOptions, Pick<RunOptions, 'containerBytesMax'> {
  readonly store: () => Promise<Store>;
  /** Whether the platform's gate let this request in as its scheduler's. Default: never. */
  readonly isScheduler?: (request: Request) => boolean;
  /** Takes the line of a run. */
  readonly print: (line: string) => void;
}

const QUERY = z.strictObject({ quietMs: z.exactOptional(z.string()) });

/** The app of the function `vacuum`: `POST /v1/vacuum?quietMs=N`. */
export function createVacuumApp(options: VacuumAppOptions): App {
  const routes: RouteTable = {
    'POST /v1/vacuum': {
      role: 'admin',
      isExempt: options.isScheduler ?? (() => false),
      audit: 'vacuum',
      summary: "Vacuums all tables, for the platform's scheduler or an admin's key.",
      query: QUERY,
      handle: (call) => postVacuum(options, call),
    },
  };
  return createApp(routes, options);
}

async function postVacuum({ store, print, containerBytesMax }: VacuumAppOptions, call: Call): Promise<Response> {
  const quietTime = quietTimeOf(call);
  const size = containerBytesMax === undefined ? {} : { containerBytesMax };
  const run = await vacuumAll(await store(), { ...call.bounds, ...quietTime, ...size });
  print(runLine(run));
  if (run.failed.length === 0) return replyJson(run);
  const names = run.failed.map(({ table, code }) => `${table} (${code})`).join(', ');
  throw new Problem('unavailable', `not all tables were vacuumed: ${names}; the next run looks at all of them again`);
}

/** The query's `quietMs`, at most half of the call's time, as the other half is for the work. */
function quietTimeOf({ query, bounds }: Call): Pick<RunOptions, 'quietMs'> {
  const given = query['quietMs'];
  if (given === undefined) return {};
  const max = Math.floor(bounds.timeoutMs / 2);
  const quietMs = /^\d{1,10}$/.test(given) ? Number(given) : Infinity;
  if (quietMs > max)
    throw new Problem('invalid', `quietMs must be a whole number from 0 to ${max}, half of the call's deadline`);
  return { quietMs };
}
