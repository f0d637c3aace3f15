// Functions `compare` that run nothing. Their figures follow from the request.
import type { CellRequest, CellResult } from '../../shared/lab/load/cell.ts';
import { isOfContainers, MIXES, type Provider } from '../../shared/lab/kit/dimensions.ts';
import { emptyUsage } from '../../shared/lab/kit/provider-usage.ts';
import { COUNTERS, placeOf, result } from './fakes.ts';
import { encodedOf } from './histogram-of.ts';

/** Milliseconds a call, whatever the number of callers: the store is never busy. */
const LATENCY_MS = { record: 20, batch: 5, container: 2, 'container-sdk': 4 };

/** The answer of the provider's function. A caller's calls follow each other without a pause. */
export function fakeResult(request: CellRequest, provider: Provider): CellResult {
  const { layout, workload, callers, durationMs, ratePerSecond } = request;
  const latencyMs = LATENCY_MS[layout] * (provider === 'datastore' ? 1 : 2);
  const operations = Math.round(
    ratePerSecond === null ? (callers * durationMs) / latencyMs : (ratePerSecond * durationMs) / 1_000,
  );
  const { recordsPerCall } = MIXES[workload];
  const records = operations * recordsPerCall;
  const billable = { reads: operations, writes: operations, deletes: 0 };
  return result({
    provider,
    layout,
    workload,
    place: placeOf(provider),
    firstOperationMs: 2 * latencyMs,
    recordsPerCall,
    durationMs,
    records,
    recordsFirstHalf: records / 2,
    recordsTotal: 2 * records,
    usage: { ...emptyUsage(true), requests: operations, billable },
    store: isOfContainers(layout) ? { ...COUNTERS, commits: operations } : null,
    histogram: encodedOf(operations, latencyMs),
    operations,
    behindMsMax: ratePerSecond === null ? null : 0,
  });
}

type Answer = (request: CellRequest, provider: Provider) => Response | Promise<Response>;

const succeed: Answer = (request, provider) => Response.json(fakeResult(request, provider));

/** Reaches both clouds' functions by host: `https://datastore`, `https://azure-tables`. */
export function fakeFunctions(answer = succeed): typeof fetch {
  return async (input, init) => {
    const { host, pathname } = new URL(input instanceof Request ? input.url : input);
    init?.signal?.throwIfAborted();
    if (pathname !== '/v1/compare/cells') return new Response(null, { status: 204 });
    return await answer(JSON.parse(init!.body as string) as CellRequest, host as Provider);
  };
}
