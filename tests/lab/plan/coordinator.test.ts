import { describe, expect, test } from 'vitest';
import { LAYOUTS } from '../../../shared/lab/kit/dimensions.ts';
import { type CellRequest, cellRequestSchema, datasetRequestSchema } from '../../../shared/lab/load/cell.ts';
import { cellsOf, itemsOf } from '../../../shared/lab/plan/cells.ts';
import { runPlan } from '../../../shared/lab/plan/coordinator.ts';
import type { Endpoint } from '../../../shared/lab/plan/endpoint.ts';
import { heatUp } from '../../../shared/lab/plan/heat-up.ts';
import type { PlanEvent } from '../../../shared/lab/plan/outcome.ts';
import { DEFAULT_PLAN, type Plan, PLANS, planSchema } from '../../../shared/lab/plan/plan.ts';
import { result } from '../fakes.ts';
import { encodedOf } from '../histogram-of.ts';

const PLAN = planSchema.parse({ workloads: ['load', 'ycsb-c'], callers: [1, 8], repetitions: 2 });
const PROVIDERS = ['datastore', 'azure-tables'] as const;
const endpoints: Endpoint[] = [
  { provider: 'datastore', urls: ['http://one'], headers: { Authorization: 'Bearer k1' } },
  { provider: 'azure-tables', urls: ['http://two'], headers: { 'x-functions-key': 'k2' } },
];

type Answer = (request: CellRequest, provider: Endpoint['provider'], url: string) => Response | Promise<Response>;

interface Options {
  readonly signal?: AbortSignal;
  readonly remove?: (url: string) => Response;
  readonly prepare?: () => Response;
}

const gone = (): Response => new Response(null, { status: 204 });

/** Functions that answer by `answer`, and keep the requests. */
function run(answer: Answer, { signal = new AbortController().signal, remove = gone, prepare = gone }: Options = {}) {
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
    return await answer(request, url.startsWith('http://one') ? 'datastore' : 'azure-tables', url);
  };
  const options = { endpoints, signal, fetch: fake, onEvent: (event: PlanEvent) => void events.push(event) };
  return { cells, prepared, removed, events, options };
}

const succeed: Answer = ({ layout, workload }, provider) => Response.json(result({ provider, layout, workload }));
const busy = (): Response => Response.json({ title: 'Unavailable', detail: 'no operation succeeded' }, { status: 503 });
const unknownKey = (): Response =>
  Response.json({ detail: 'the app key is not one of the configured keys' }, { status: 401 });
/** The answer of a platform's own gate. */
const forbidden = (): Response => new Response('<h1>Forbidden</h1>', { status: 403 });

function datasetsIn(urls: readonly string[]): Set<string> {
  return new Set(urls.map((url) => `${new URL(url).host} ${url.split('/').at(-1)}`));
}

describe('the order', () => {
  test('holds every cell once a block, and is drawn by the seed', () => {
    const items = itemsOf(PLAN, PROVIDERS);
    const names = items.map(({ cell }) => JSON.stringify(cell));
    const once = cellsOf(PLAN, PROVIDERS).map((cell) => JSON.stringify(cell));
    expect(once).toHaveLength(2 * 3 * 2 * 2);
    expect(names.slice(0, 24).toSorted()).toEqual(once.toSorted());
    expect(names.slice(24).toSorted()).toEqual(once.toSorted());
    expect(names.slice(0, 24)).not.toEqual(names.slice(24));
    expect(itemsOf(PLAN, PROVIDERS)).toEqual(items);
    expect(itemsOf({ ...PLAN, seed: PLAN.seed + 1 }, PROVIDERS)).not.toEqual(items);
  });

  test('puts each cell at each place of a block about as often', () => {
    const plan = { ...PLAN, repetitions: 50 };
    const first = JSON.stringify(cellsOf(plan, PROVIDERS)[0]);
    const places = itemsOf(plan, PROVIDERS).flatMap(({ cell }, at) => (JSON.stringify(cell) === first ? at % 24 : []));
    const mean = places.reduce((sum, place) => sum + place, 0) / places.length;
    // The bound is four standard deviations of the mean of 50 draws from 0 to 23.
    expect(Math.abs(mean - 11.5)).toBeLessThan(4);
  });
});

describe('the coordinator', () => {
  test('runs every item of the plan, and tells as it goes', async () => {
    const { options, events } = run(succeed);
    const outcome = await runPlan(PLAN, 'run1', options);
    expect(outcome).toMatchObject({ failures: [], leftovers: [], leftOut: [], searches: [], endedEarly: null });
    expect(outcome.runs.map(({ cell, repetition }) => ({ kind: 'run', cell, repetition }))).toEqual(
      itemsOf(PLAN, PROVIDERS),
    );
    const done = events.flatMap((event) => (event.kind === 'ended' ? [event.done] : []));
    expect(done).toEqual(Array.from({ length: 48 }, (_, at) => at + 1));
  });

  test('sends each cloud its own keys', async () => {
    const { options, cells } = run(succeed);
    await runPlan(PLAN, 'run1', options);
    const [one, two] = ['http://one', 'http://two'].map((url) => cells.find((cell) => cell.url.startsWith(url))!);
    expect(one!.headers.get('authorization')).toBe('Bearer k1');
    expect(two!.headers.get('x-functions-key')).toBe('k2');
  });

  test('gives every layout the same draws in a repetition, and others in the next', async () => {
    const { options, cells } = run(succeed);
    await runPlan(PLAN, 'run1', options);
    expect(new Set(cells.map(({ request }) => request.drawSeed)).size).toBe(2);
  });

  test('gives every load a dataset of its own, removed when it has ended; others share one that is loaded once', async () => {
    const { options, cells, prepared, removed } = run(succeed);
    await runPlan(PLAN, 'run1', options);
    const loads = cells.filter(({ request }) => request.workload === 'load').map(({ request }) => request.dataset);
    expect(new Set(loads).size).toBe(2 * 3 * 2 * 2);
    expect(prepared).toHaveLength(4);
    expect(new Set(prepared).size).toBe(4);
    expect(new Set(removed).size).toBe(removed.length);
    expect(removed).toHaveLength(loads.length + 4);
  });

  test('has records of the form that the plan names, and a dataset for both layouts of the SDK, of containers, and of the driver', async () => {
    const { options, cells, prepared } = run(succeed);
    await runPlan({ ...PLAN, workloads: ['ycsb-a'], layouts: [...LAYOUTS], recordForm: 'text' }, 'run1', options);
    expect(new Set(cells.map(({ request }) => request.recordForm))).toEqual(new Set(['text']));
    expect(new Set(prepared).size).toBe(3 * PROVIDERS.length);
    const [record, , driver, container] = LAYOUTS.map(
      (layout) => cells.find(({ request }) => request.layout === layout)!.request.dataset,
    );
    expect(new Set([record, driver, container]).size).toBe(3);
  });

  test('says what a layout cannot run, and does not try it', async () => {
    const { options, cells } = run(succeed);
    const { leftOut } = await runPlan({ ...PLAN, workloads: ['ycsb-e', 'ycsb-f'] }, 'run1', options);
    expect(leftOut.map(({ provider, layout, workload }) => [provider, layout, workload])).toEqual([
      ['datastore', 'batch', 'ycsb-e'],
      ['datastore', 'batch', 'ycsb-f'],
      ['azure-tables', 'batch', 'ycsb-e'],
      ['azure-tables', 'batch', 'ycsb-f'],
    ]);
    expect(cells.filter(({ request }) => request.layout === 'batch')).toEqual([]);
  });

  test('spreads a cell over its instances: their windows open together, and each inserts where no other does', async () => {
    const { options, cells } = run(succeed);
    const [endpoint] = endpoints;
    const plan: Plan = { ...PLAN, workloads: ['ycsb-d'], layouts: ['container'], callers: [4], instances: [3] };
    const begunMs = Date.now();
    const { runs } = await runPlan(plan, 'run1', {
      ...options,
      endpoints: [{ ...endpoint!, urls: ['http://one', 'http://one-b'] }],
    });
    expect(runs.map(({ parts }) => parts.length)).toEqual([3, 3]);
    expect(cells.slice(0, 3).map(({ url }) => new URL(url).host)).toEqual(['one', 'one-b', 'one']);
    expect(cells.slice(0, 3).map(({ request }) => request.part)).toEqual(
      [0, 1, 2].map((index) => ({ index, count: 3 })),
    );
    expect(new Set(cells.slice(0, 3).map(({ request }) => request.windowAtMs)).size).toBe(1);
    expect(cells[0]!.request.windowAtMs!).toBeGreaterThan(begunMs);
    const from = cells.map(({ request }) => request.insertFrom);
    expect(new Set(from).size).toBe(6);
    expect(Math.min(...from)).toBeGreaterThan(PLAN.records);
  });

  test('warms several instances that write for ten seconds, unless the plan says otherwise', async () => {
    const warmupsOf = async (change: Partial<Plan>): Promise<number[]> => {
      const { options, cells } = run(succeed);
      await runPlan({ ...PLAN, callers: [1], ...change }, 'run1', options);
      return [...new Set(cells.map(({ request }) => request.warmup.leastMs))].toSorted((one, other) => one - other);
    };
    expect(await warmupsOf({})).toEqual([300]);
    expect(await warmupsOf({ instances: [2] })).toEqual([300, 10_000]);
    expect(await warmupsOf({ instances: [2], workloads: ['ycsb-c'] })).toEqual([300]);
    const warmup = { ...PLAN.warmup, severalWritersMs: 700 };
    expect(await warmupsOf({ instances: [2], workloads: ['ycsb-a'], warmup })).toEqual([700]);
  });

  test('divides an open loop among the instances', async () => {
    const { options, cells } = run(succeed);
    await runPlan({ ...PLAN, callers: [], ratesPerSecond: [900], instances: [3] }, 'run1', options);
    expect(new Set(cells.map(({ request }) => request.ratePerSecond))).toEqual(new Set([300]));
    expect(new Set(cells.map(({ request }) => request.callers))).toEqual(new Set([256]));
  });

  test('searches once a repetition', async () => {
    const { options } = run((request, provider) => {
      const isHeld = request.ratePerSecond! <= 300;
      const answer = result({ provider, layout: request.layout, workload: request.workload, recordsPerCall: 1 });
      return Response.json({ ...answer, records: request.ratePerSecond!, errors: isHeld ? {} : { throttled: 1 } });
    });
    const search = { percentile: 50 as const, latencyMsMax: 9, fromPerSecond: 100, toPerSecond: 1_000, triesMax: 9 };
    const plan: Plan = { ...PLAN, workloads: ['ycsb-c'], layouts: ['record'], callers: [], search };
    const { searches } = await runPlan(plan, 'run1', options);
    expect(searches).toHaveLength(4);
    // One operation is too few for any percentile. None is held, and each says why.
    expect(searches[0]!.tries[0]!.why).toMatch('1 operations are too few for p50');
  });
});

test('the run that confirms a rate has other draws than those that found it', async () => {
  const { options, cells } = run((request, provider) => {
    const { layout, workload, ratePerSecond, durationMs } = request;
    const operations = Math.ceil((ratePerSecond! * durationMs) / 1_000);
    const histogram = encodedOf(operations, ratePerSecond! > 300 ? 10 : 5);
    const counted = { histogram, records: ratePerSecond!, durationMs: 1_000 };
    return Response.json(result({ provider, layout, workload, recordsPerCall: 1, ...counted }));
  });
  const search = { percentile: 50 as const, latencyMsMax: 9, fromPerSecond: 100, toPerSecond: 1_000, triesMax: 9 };
  const plan: Plan = { ...PLAN, workloads: ['ycsb-c'], layouts: ['record'], callers: [], search };
  const { searches } = await runPlan(plan, 'run1', options);
  expect(searches[0]!.confirmed!.ratePerSecond).toBeGreaterThan(270);
  const seeds = cells.map(({ request }) => request.drawSeed);
  expect(seeds).toHaveLength(4 * (searches[0]!.tries.length + 1));
  // Both providers use the same seeds.
  expect(new Set(seeds).size).toBe(seeds.length / 2);
});

describe('a target', () => {
  test('that fails shows with its error, and the rest goes on', async () => {
    const { options } = run((request, provider, url) =>
      request.layout === 'container' && provider === 'datastore' ? busy() : succeed(request, provider, url),
    );
    const { runs, failures } = await runPlan(PLAN, 'run1', options);
    expect([runs.length, failures.length]).toEqual([40, 8]);
    expect(failures[0]).toMatchObject({
      provider: 'datastore',
      layout: 'container',
      error: 'HTTP 503: no operation succeeded',
    });
  });

  test.each([
    ['no JSON', () => new Response('<html>'), /HTTP 200 with an answer that is no JSON/],
    ['no result', () => Response.json({ records: 7 }), /the answer is no result of a cell: provider/],
    [
      'another provider',
      () => Response.json(result({ provider: 'datastore' })),
      /is on datastore, not on azure-tables/,
    ],
  ])('that answers with %s shows as such', async (_what, answer, error) => {
    const { options } = run((request, provider, url) =>
      provider === 'azure-tables' ? answer() : succeed(request, provider, url),
    );
    const { runs, failures } = await runPlan(PLAN, 'run1', options);
    expect([runs.length, failures.length]).toEqual([24, 24]);
    expect(failures[0]!.error).toMatch(error);
  });

  test('that is not there is given up after three runs, and says why for all of them', async () => {
    const { options, cells } = run((request, provider, url) => {
      if (provider === 'datastore') throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
      return succeed(request, provider, url);
    });
    const { runs, failures } = await runPlan(PLAN, 'run1', options);
    expect([runs.length, failures.length]).toEqual([24, 24]);
    expect(cells.filter(({ url }) => url.startsWith('http://one'))).toHaveLength(3);
    expect(failures[0]!.error).toBe('fetch failed: connect ECONNREFUSED');
    expect(failures[3]!.error).toBe(
      'not tried: the 3 runs before had no answer, the last with: fetch failed: connect ECONNREFUSED',
    );
  });

  test('that refuses the key is given up after three runs, and nothing is said to be left there', async () => {
    const { options, cells, removed } = run(
      (request, provider, url) => (provider === 'datastore' ? unknownKey() : succeed(request, provider, url)),
      { remove: (url) => (url.startsWith('http://one') ? unknownKey() : gone()) },
    );
    const plan = { ...PLAN, workloads: ['load' as const] };
    const { runs, failures, leftovers } = await runPlan(plan, 'run1', options);
    expect([runs.length, failures.length]).toEqual([12, 12]);
    expect(cells.filter(({ url }) => url.startsWith('http://one'))).toHaveLength(3);
    expect(failures[3]!.error).toBe(
      'not tried: the 3 runs before were refused, the last with: HTTP 401: the app key is not one of the configured keys',
    );
    expect(leftovers).toEqual([]);
    expect(removed.filter((url) => url.startsWith('http://two'))).toHaveLength(12);
  });

  test('that the platform does not let anybody reach is refused, too', async () => {
    const { options } = run(forbidden, { remove: forbidden });
    const { failures, leftovers } = await runPlan({ ...PLAN, workloads: ['load'] }, 'run1', options);
    const error = "HTTP 403: the platform's own gate refuses: its token or key is missing or wrong";
    expect(failures[0]!.error).toBe(error);
    expect(failures.at(-1)!.error).toBe(`not tried: the 3 runs before were refused, the last with: ${error}`);
    expect(leftovers).toEqual([]);
  });

  test('that refuses the key later on is said to keep what it could not be told to remove', async () => {
    let isValid = true;
    const { options } = run(
      (request, provider, url) => {
        if (!isValid) return forbidden();
        isValid = false;
        return succeed(request, provider, url);
      },
      { remove: forbidden },
    );
    const plan = { ...PLAN, workloads: ['load' as const], repetitions: 1 };
    const { leftovers, runs } = await runPlan(plan, 'run1', options);
    expect(runs).toHaveLength(1);
    expect(leftovers.map(({ error }) => error)).toContain(
      "HTTP 403: the platform's own gate refuses: its token or key is missing or wrong",
    );
    expect(new Set(leftovers.map(({ provider }) => provider))).toEqual(new Set([runs[0]!.cell.provider]));
  });

  test('that made a dataset and then refuses the key is told to remove it', async () => {
    const { options, prepared, removed } = run(() => unknownKey());
    const plan = { ...PLAN, workloads: ['ycsb-c' as const], repetitions: 1 };
    const { runs } = await runPlan(plan, 'run1', options);
    expect(runs).toEqual([]);
    expect(prepared.length).toBeGreaterThan(0);
    expect(datasetsIn(removed)).toEqual(datasetsIn(prepared));
  });

  test('of which one instance fails has no figure for that run', async () => {
    const { options } = run((request, provider, url) =>
      request.part.index === 1 ? busy() : succeed(request, provider, url),
    );
    const plan: Plan = { ...PLAN, instances: [2], repetitions: 1 };
    const { runs, failures } = await runPlan(plan, 'run1', options);
    expect(runs).toEqual([]);
    expect(failures[0]!.error).toBe('1 of 2 instances failed, number 2 with: HTTP 503: no operation succeeded');
  });

  test('whose dataset cannot be loaded shows as such', async () => {
    const { options } = run(succeed, { prepare: busy });
    const { runs, failures } = await runPlan(PLAN, 'run1', options);
    expect(new Set(runs.map(({ cell }) => cell.workload))).toEqual(new Set(['load']));
    expect(new Set(failures.map(({ error }) => error))).toEqual(new Set(['HTTP 503: no operation succeeded']));
  });
});

describe('what a run made', () => {
  test('is removed when it is ended early, by requests that the end does not end; what was measured is there', async () => {
    const ending = new AbortController();
    let answered = 0;
    const { options, cells, removed } = run(
      (request, provider, url) => {
        answered += 1;
        if (answered === 5) ending.abort(new Error('Ctrl-C'));
        return succeed(request, provider, url);
      },
      { signal: ending.signal },
    );
    const { runs, endedEarly } = await runPlan(PLAN, 'run1', options);
    expect([runs.length, endedEarly]).toEqual([4, 'Ctrl-C']);
    const used = cells.map(({ url, request }) => url.replace('cells', `datasets/${request.dataset}`));
    expect(new Set(removed)).toEqual(new Set(used));
  });

  test('is reported where it stays', async () => {
    const { options } = run(succeed, {
      remove: (url) =>
        url.startsWith('http://two') ? Response.json({ detail: 'not removed' }, { status: 503 }) : gone(),
    });
    const { leftovers } = await runPlan({ ...PLAN, repetitions: 1 }, 'run1', options);
    expect(leftovers).toHaveLength(3 * 2 + 2);
    expect(leftovers[0]).toMatchObject({ provider: 'azure-tables', error: 'HTTP 503: not removed' });
  });

  test('to heat up is removed, too, and what fails there stops nothing', async () => {
    const { options, cells, removed } = run((request, provider, url) =>
      request.layout === 'batch' ? busy() : succeed(request, provider, url),
    );
    await heatUp(100, 'run1', options);
    expect(cells).toHaveLength(10);
    expect(removed).toHaveLength(10);
  });
});

test('the default plan takes no longer than a main job may', () => {
  const { durationMs, warmup, repetitions } = DEFAULT_PLAN;
  const cells = cellsOf(DEFAULT_PLAN, PROVIDERS).length;
  // The estimate lies between the shortest and the longest warm-up, and leaves growing windows out.
  expect((cells * repetitions * (durationMs + warmup.leastMs)) / 1_000).toBeLessThan(160);
});

test('the full plan has the runs that it says', () => {
  expect(itemsOf(PLANS.full, PROVIDERS)).toHaveLength(1_624);
});
