// One run of a cell on all of its instances, whose windows open together.
import type { CellRequest, CellResult } from '../load/cell.ts';
import type { Coordinates } from '../load/coordinates.ts';
import type { Assigned } from './datasets.ts';
import { type Endpoint, messageOf, NoAnswerError, RefusedError, runPart } from './endpoint.ts';
import { scramble32 } from '../kit/random.ts';
import { MIXES } from '../work/workloads.ts';
import type { Plan } from './plan.ts';

/** Time for requests to arrive and tables to open, before several instances warm up. */
const LEAD_MS = 1_500;

export interface FanOut {
  readonly cell: Coordinates;
  readonly plan: Plan;
  readonly assigned: Assigned;
  /** Operations and arrivals are drawn from it and the plan's seed. */
  readonly draw: number;
  readonly durationMs: number;
  readonly endpoint: Endpoint;
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
}

/** Rejects when all have ended, with one line on those that failed, or the signal's reason. */
export async function runOnAll(run: FanOut): Promise<CellResult[]> {
  const { cell, endpoint, signal } = run;
  const warmup = warmupOf(run);
  const windowAtMs = cell.instances === 1 ? null : Date.now() + LEAD_MS + warmup.mostMs;
  const settled = await Promise.allSettled(
    Array.from({ length: cell.instances }, (_, instance) =>
      runPart({ ...requestOf(run, instance), warmup, windowAtMs }, { endpoint, instance, signal, fetch: run.fetch }),
    ),
  );
  signal.throwIfAborted();
  const failed = settled.flatMap((one, instance) =>
    one.status === 'rejected' ? [{ instance, reason: one.reason as unknown }] : [],
  );
  if (failed.length === 0) return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [first] = failed;
  const message = messageOf(first!.reason);
  const who = `${failed.length} of ${cell.instances} instances failed, number ${first!.instance + 1} with: `;
  const text = cell.instances === 1 ? message : who + message;
  const Kind = [NoAnswerError, RefusedError].find((kind) => failed.every(({ reason }) => reason instanceof kind));
  throw new (Kind ?? Error)(text);
}

function warmupOf({ cell, plan }: FanOut): CellRequest['warmup'] {
  const { leastMs, mostMs, severalWritersMs } = plan.warmup;
  const isTuned = cell.instances > 1 && Object.keys(MIXES[cell.workload].shares).some((verb) => WRITES.has(verb));
  const tuningMs = isTuned ? severalWritersMs : 0;
  return { leastMs: Math.max(leastMs, tuningMs), mostMs: Math.max(mostMs, tuningMs) };
}

const WRITES: ReadonlySet<string> = new Set(['update', 'insert', 'modify']);

function requestOf(
  { cell, plan, assigned, draw, durationMs }: FanOut,
  instance: number,
): Omit<CellRequest, 'warmup' | 'windowAtMs'> {
  const { workload, instances, callers, ratePerSecond } = cell;
  return {
    ...assigned.request,
    workload,
    keys: plan.keys,
    callers,
    ratePerSecond: ratePerSecond === null ? null : ratePerSecond / instances,
    arrivals: plan.arrivals,
    durationMs,
    // Other operations in every repetition, the same ones in every layout.
    drawSeed: scramble32(plan.seed ^ scramble32(draw)),
    insertFrom: assigned.insertFrom[instance]!,
    part: { index: instance, count: instances },
  };
}
