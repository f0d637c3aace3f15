import { describe, expect, test } from 'vitest';
import { LAYOUTS } from '../../../shared/lab/kit/dimensions.ts';
import { type CellRequest, cellRequestSchema, datasetRequestSchema } from '../../../shared/lab/load/cell.ts';
import { DEFAULT_PLAN, groupsOf, type Plan, planSchema } from '../../../shared/lab/plan/plan.ts';
import { runPlan } from '../../../shared/lab/plan/coordinator.ts';
import type { Endpoint } from '../../../shared/lab/plan/endpoint.ts';
import type { PlanEvent } from '../../../shared/lab/plan/outcome.ts';
import { encodedOf, result } from '../fakes.ts';

const PLAN = planSchema.parse({ workloads: ['load', 'ycsb-c'], callers: [1, 8], repetitions: 2 });
const PROVIDERS = ['datastore', 'azure-tables'] as const;
const endpoints: Endpoint[] = [
  { provider: 'datastore', urls: ['http://one'], headers: { Authorization: 'Bearer k1' } },
  { provider: 'azure-tables', urls: ['http://two'], headers: { 'x-functions-key': 'k2' } },
];

type Answer = (request: CellRequest, provider: Endpoint['provider']) => Response | Promise<Response>;

interface Options {
  readonly answer?: Answer;
  readonly signal?: AbortSignal;
  readonly endpoints?: Endpoint[];
  readonly remove?: (url: string) => Response;
  readonly prepare?: () => Response;
}

const gone = (): Response => new Response(null, { status: 204 });
const succeed: Answer = ({ layout, workload }, provider) => Response.json(result({ provider, layout, workload }));
const busy = (): Response => Response.json({ title: 'Unavailable', detail: 'no operation succeeded' }, { status: 503 });
const unknownKey = (): Response =>
  Response.json({ detail: 'the app key is not one of the configured keys' }, { status: 401 });
/** The answer of a platform's own gate. */
const forbidden = (): Response => new Response('<h1>Forbidden</h1>', { status: 403 });
const nobody = (): never => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
};
const GATE_REFUSES = "HTTP 403: the platform's own gate refuses: its token or key is missing or wrong";

/** The answer where it is so; else the cell succeeds. */
function where(isSo: (...asked: Parameters<Answer>) => boolean, answer: () => Response): Answer {
  return (...asked) => (isSo(...asked) ? answer() : succeed(...asked));
}

/** Functions that answer by the options, and keep the requests. */
function functions({ answer = succeed, remove = gone, prepare = gone, ...options }: Options) {
  const cells: { url: string; headers: Headers; request: CellRequest }[] = [];
  const [prepared, removed, events]: [string[], string[], PlanEvent[]] = [[], [], []];
  const fake: typeof fetch = async (input, init) => {
    const { url, headers, method } = new Request(input, { ...init, signal: null });
    if (method === 'DELETE') {
      removed.push(url);
      return remove(url);
    }
    if (init?.signal?.aborted) throw init.signal.reason;
    const body: unknown = JSON.parse(init?.body as string);
    if (url.endsWith('/datasets')) {
      prepared.push(`${url}/${datasetRequestSchema.parse(body).dataset}`);
      return prepare();
    }
    const request = cellRequestSchema.parse(body);
    cells.push({ url, headers, request });
    return await answer(request, url.startsWith('http://one') ? 'datastore' : 'azure-tables');
  };
  const onEvent = (event: PlanEvent) => void events.push(event);
  const { signal } = new AbortController();
  return { cells, prepared, removed, events, options: { endpoints, signal, fetch: fake, onEvent, ...options } };
}

/** The plan's outcome, and the requests that it sent. */
async function ran(change: Partial<Plan> = {}, options: Options = {}) {
  const { options: given, ...seen } = functions(options);
  return { ...(await runPlan({ ...PLAN, ...change }, 'run1', given)), ...seen };
}

function datasetsIn(urls: readonly string[]): Set<string> {
  return new Set(urls.map((url) => `${new URL(url).host} ${url.split('/').at(-1)}`));
}

/** Each group's cells, as text. */
const all = (plan: Plan): string[] =>
  groupsOf(plan, PROVIDERS).map((group) => JSON.stringify(group.map(({ cell }) => cell)));

/** How many cells run side by side, by their load. */
const sizes = (change: Partial<Plan>): Record<string, number[]> => {
  const groups = groupsOf({ ...PLAN, repetitions: 1, ...change }, PROVIDERS);
  const byLoad = Object.groupBy(groups, ([item]) => `${item!.cell.callers} ${item!.cell.ratePerSecond}`);
  return Object.fromEntries(
    Object.entries(byLoad).map(([load, some]) => [load, [...new Set(some!.map((group) => group.length))]]),
  );
};

describe('the order', () => {
  test('has every cell once per block, and is drawn by the seed', () => {
    const items = groupsOf(PLAN, PROVIDERS).flat();
    const names = items.map(({ cell }) => JSON.stringify(cell));
    // Of two workloads the layouts record and container run both on each cloud, batch one.
    expect(new Set(names).size).toBe((2 * 2 + 1) * 2 * 2);
    expect(names.slice(0, 20).toSorted()).toEqual(names.slice(20).toSorted());
    expect(names.slice(0, 20)).not.toEqual(names.slice(20));
    expect(groupsOf(PLAN, PROVIDERS).flat()).toEqual(items);
    expect(all({ ...PLAN, seed: PLAN.seed + 1 })).not.toEqual(all(PLAN));
  });

  test('runs the clouds side by side up to the plan’s number of callers, but open loops alone', () => {
    expect(sizes({ sideBySideCallersMax: 4 })).toEqual({ '1 null': [2], '8 null': [1] });
    expect(sizes({ ratesPerSecond: [50] })).toEqual({ '1 null': [2], '8 null': [2], '256 50': [1] });
  });
});

describe('the coordinator', () => {
  test('runs every item of the plan, reports its progress, and sends each cloud its own keys and the same draws', async () => {
    const { events, cells, ...outcome } = await ran();
    expect(outcome).toMatchObject({ failures: [], leftovers: [], searches: [], endedEarly: null });
    expect(outcome.leftOut.map(({ layout, workload }) => `${layout} ${workload}`)).toEqual([
      'batch ycsb-c',
      'batch ycsb-c',
    ]);
    const items = outcome.runs.map(({ cell, repetition }) => ({ kind: 'run', cell, repetition }));
    expect(items).toEqual(groupsOf(PLAN, PROVIDERS).flat());
    const done = events.flatMap((event) => (event.kind === 'ended' ? [event.done] : []));
    expect(done).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
    const [one, two] = ['http://one', 'http://two'].map((url) => cells.find((cell) => cell.url.startsWith(url))!);
    expect(one!.headers.get('authorization')).toBe('Bearer k1');
    expect(two!.headers.get('x-functions-key')).toBe('k2');
    // Every layout has the same draws in a repetition, and others in the next.
    expect(new Set(cells.map(({ request }) => request.drawSeed)).size).toBe(2);
  });

  test('gives each load a dataset of its own and removes it afterwards, while other cells share one', async () => {
    const { cells, prepared, removed } = await ran();
    const loads = cells.filter(({ request }) => request.workload === 'load').map(({ request }) => request.dataset);
    expect(new Set(loads).size).toBe(2 * 3 * 2 * 2);
    expect(prepared).toHaveLength(4);
    expect(new Set(prepared).size).toBe(4);
    expect(new Set(removed).size).toBe(removed.length);
    expect(removed).toHaveLength(loads.length + 4);
  });

  test('has records of the plan’s form, and one dataset for both layouts of the SDK and one for both of containers', async () => {
    const { cells, prepared } = await ran({ workloads: ['read-together'], layouts: [...LAYOUTS], recordForm: 'text' });
    expect(new Set(cells.map(({ request }) => request.recordForm))).toEqual(new Set(['text']));
    expect(new Set(prepared).size).toBe(2 * PROVIDERS.length);
    const names = LAYOUTS.map(
      (layout) =>
        cells.find(({ url, request }) => url.startsWith('http://one') && request.layout === layout)!.request.dataset,
    );
    expect([names[0], names[2]]).toEqual([names[1], names[3]]);
    expect(names[0]).not.toBe(names[2]);
  });

  test('spreads a cell over its instances, whose windows open together and whose inserts do not meet', async () => {
    const begunMs = Date.now();
    const { cells, runs } = await ran(
      { workloads: ['ycsb-d'], layouts: ['container'], callers: [4], instances: [3] },
      { endpoints: [{ ...endpoints[0]!, urls: ['http://one', 'http://one-b'] }] },
    );
    expect(runs.map(({ parts }) => parts.length)).toEqual([3, 3]);
    const first = cells.slice(0, 3);
    expect(first.map(({ url }) => new URL(url).host)).toEqual(['one', 'one-b', 'one']);
    expect(first.map(({ request }) => request.part)).toEqual([0, 1, 2].map((index) => ({ index, count: 3 })));
    expect(new Set(first.map(({ request }) => request.windowAtMs)).size).toBe(1);
    expect(cells[0]!.request.windowAtMs!).toBeGreaterThan(begunMs);
    const from = cells.map(({ request }) => request.insertFrom);
    expect(new Set(from).size).toBe(6);
    expect(Math.min(...from)).toBeGreaterThan(PLAN.records);
  });

  test.each<[Partial<Plan>, number[]]>([
    [{}, [300]],
    [{ instances: [2] }, [300, 10_000]],
    [{ instances: [2], workloads: ['ycsb-a'], warmup: { ...PLAN.warmup, severalWritersMs: 700 } }, [700]],
  ])('warms several instances that write for ten seconds, unless the plan says otherwise: %j', async (change, ms) => {
    const { cells } = await ran({ callers: [1], ...change });
    expect(new Set(cells.map(({ request }) => request.warmup.leastMs))).toEqual(new Set(ms));
  });

  test('divides an open loop among the instances', async () => {
    const { cells } = await ran({ callers: [], ratesPerSecond: [900], instances: [3] });
    expect(new Set(cells.map(({ request }) => request.ratePerSecond))).toEqual(new Set([300]));
    expect(new Set(cells.map(({ request }) => request.callers))).toEqual(new Set([256]));
  });
});

describe('a search', () => {
  const search = { percentile: 50 as const, latencyMsMax: 9, fromPerSecond: 100, toPerSecond: 1_000, triesMax: 9 };
  const plan: Partial<Plan> = { workloads: ['ycsb-c'], layouts: ['record'], callers: [], search };

  test('runs once per repetition', async () => {
    const { searches } = await ran(plan);
    expect(searches).toHaveLength(4);
    // One operation is too few for any percentile. None is held, and each says why.
    expect(searches[0]!.tries[0]!.why).toMatch('1 operations are too few for p50');
  });

  test('confirms a rate with other draws than those that found it', async () => {
    const { cells, searches } = await ran(plan, {
      answer: ({ layout, workload, ratePerSecond, durationMs }, provider) => {
        const operations = Math.ceil((ratePerSecond! * durationMs) / 1_000);
        const histogram = encodedOf(operations, ratePerSecond! > 300 ? 10 : 5);
        const counted = { histogram, records: ratePerSecond!, durationMs: 1_000 };
        return Response.json(result({ provider, layout, workload, recordsPerCall: 1, ...counted }));
      },
    });
    expect(searches[0]!.confirmed!.ratePerSecond).toBeGreaterThan(270);
    const seeds = cells.map(({ request }) => request.drawSeed);
    expect(seeds).toHaveLength(4 * (searches[0]!.tries.length + 1));
    // Both providers use the same seeds.
    expect(new Set(seeds).size).toBe(seeds.length / 2);
  });
});

describe('a target', () => {
  test('that fails is reported with its error, and the other runs go on', async () => {
    const answer = where(({ layout }, provider) => layout === 'container' && provider === 'datastore', busy);
    const { runs, failures } = await ran({}, { answer });
    expect([runs.length, failures.length]).toEqual([32, 8]);
    const error = 'HTTP 503: no operation succeeded';
    expect(failures[0]).toMatchObject({ provider: 'datastore', layout: 'container', error });
  });

  test.each([
    ['no JSON', () => new Response('<html>'), /HTTP 200 with an answer that is no JSON/],
    ['no result', () => Response.json({ records: 7 }), /the answer is no result of a cell: provider/],
    [
      'another provider',
      () => Response.json(result({ provider: 'datastore' })),
      /is on datastore, not on azure-tables/,
    ],
  ])('that answers with %s is reported as such', async (_what, wrong, error) => {
    const { runs, failures } = await ran({}, { answer: where((_, provider) => provider === 'azure-tables', wrong) });
    expect([runs.length, failures.length]).toEqual([20, 20]);
    expect(failures[0]!.error).toMatch(error);
  });

  test('that does not answer is given up after three runs, and all of its runs say why', async () => {
    const answer = where((_, provider) => provider === 'datastore', nobody);
    const { cells, runs, failures } = await ran({}, { answer });
    expect([runs.length, failures.length]).toEqual([20, 20]);
    expect(cells.filter(({ url }) => url.startsWith('http://one'))).toHaveLength(3);
    const error = 'fetch failed: connect ECONNREFUSED';
    expect(failures[0]!.error).toBe(error);
    expect(failures[3]!.error).toBe(`not tried: the 3 runs before had no answer, the last with: ${error}`);
  });

  test.each([
    ['refuses the key', unknownKey, 'HTTP 401: the app key is not one of the configured keys'],
    ['stands behind a gate that refuses', forbidden, GATE_REFUSES],
  ])('that %s is given up after three runs, and has no leftovers', async (_what, refuse, error) => {
    const { cells, removed, runs, failures, leftovers } = await ran(
      { workloads: ['load'] },
      {
        answer: where((_, provider) => provider === 'datastore', refuse),
        remove: (url) => (url.startsWith('http://one') ? refuse() : gone()),
      },
    );
    expect([runs.length, failures.length]).toEqual([12, 12]);
    expect(cells.filter(({ url }) => url.startsWith('http://one'))).toHaveLength(3);
    expect(failures[3]!.error).toBe(`not tried: the 3 runs before were refused, the last with: ${error}`);
    expect(leftovers).toEqual([]);
    expect(removed.filter((url) => url.startsWith('http://two'))).toHaveLength(12);
  });

  test('that refuses the key later on is reported with the datasets that it still holds', async () => {
    let asked = 0;
    const answer = where(() => ++asked > 2, forbidden);
    const { leftovers, runs } = await ran({ workloads: ['load'], repetitions: 1 }, { answer, remove: forbidden });
    expect(runs.length).toBeGreaterThan(0);
    expect(leftovers.map(({ error }) => error)).toContain(GATE_REFUSES);
    expect(new Set(leftovers.map(({ provider }) => provider))).toEqual(new Set(runs.map(({ cell }) => cell.provider)));
  });

  test('that made a dataset and then refuses the key is still asked to remove it', async () => {
    const plan: Partial<Plan> = { workloads: ['ycsb-c'], repetitions: 1 };
    const { runs, prepared, removed } = await ran(plan, { answer: unknownKey });
    expect(runs).toEqual([]);
    expect(prepared.length).toBeGreaterThan(0);
    expect(datasetsIn(removed)).toEqual(datasetsIn(prepared));
  });

  test('of which one instance fails has no figure for that run', async () => {
    const answer = where(({ part }) => part.index === 1, busy);
    const { runs, failures } = await ran({ instances: [2], repetitions: 1 }, { answer });
    expect(runs).toEqual([]);
    expect(failures[0]!.error).toBe('1 of 2 instances failed, number 2 with: HTTP 503: no operation succeeded');
  });

  test('whose dataset cannot be loaded is reported with that error', async () => {
    const { runs, failures } = await ran({}, { prepare: busy });
    expect(new Set(runs.map(({ cell }) => cell.workload))).toEqual(new Set(['load']));
    expect(new Set(failures.map(({ error }) => error))).toEqual(new Set(['HTTP 503: no operation succeeded']));
  });
});

describe('the data of a run', () => {
  test('is removed also when the run is aborted, which keeps the figures until then', async () => {
    const ending = new AbortController();
    let answered = 0;
    const answer: Answer = (...asked) => {
      answered += 1;
      if (answered === 5) ending.abort(new Error('Ctrl-C'));
      return succeed(...asked);
    };
    const { cells, removed, runs, endedEarly } = await ran({}, { answer, signal: ending.signal });
    expect([runs.length, endedEarly]).toEqual([4, 'Ctrl-C']);
    const used = cells.map(({ url, request }) => url.replace('cells', `datasets/${request.dataset}`));
    expect(used.filter((url) => !removed.includes(url))).toEqual([]);
  });

  test('is not removed if the services end with the run', async () => {
    const { options, removed } = functions({});
    const { leftovers, runs } = await runPlan(PLAN, 'run1', { ...options, endsWithRun: true });
    expect([removed, leftovers, runs.length]).toEqual([[], [], 40]);
  });

  test('is reported if it cannot be removed', async () => {
    const stays = Response.json({ detail: 'not removed' }, { status: 503 });
    const remove = (url: string): Response => (url.startsWith('http://two') ? stays.clone() : gone());
    const { leftovers } = await ran({ repetitions: 1 }, { remove });
    expect(leftovers).toHaveLength(3 * 2 + 2);
    expect(leftovers[0]).toMatchObject({ provider: 'azure-tables', error: 'HTTP 503: not removed' });
  });
});

test('the default plan takes less than 160 seconds of load on both clouds', () => {
  const { durationMs, warmup } = DEFAULT_PLAN;
  const groups = groupsOf(DEFAULT_PLAN, PROVIDERS).length;
  // The estimate lies between the shortest and the longest warm-up, and leaves growing windows out.
  expect((groups * (durationMs + warmup.leastMs)) / 1_000).toBeLessThan(160);
});
