import { describe, expect, test } from 'vitest';
import type { CellRequestInput } from '../../shared/compare/cell/old-cell.ts';
import { type Endpoint, runPlan, warmUp } from '../../shared/compare/plan/coordinator.ts';
import { cellsOf, DEFAULT_PLAN, FULL_PLAN } from '../../shared/compare/plan/old-plan.ts';
import { result } from './fakes.ts';

const PLAN = { ...DEFAULT_PLAN, concurrencies: [1, 8] };
const endpoints: Endpoint[] = [
  { provider: 'datastore', url: 'http://one', headers: { Authorization: 'Bearer k1' } },
  { provider: 'azure-tables', url: 'http://two', headers: { 'x-functions-key': 'k2' } },
];

const gone = (_url: string): Response => new Response(null, { status: 204 });

type Answer = (request: CellRequestInput, provider: Endpoint['provider']) => Response | Promise<Response>;

function options(answer: Answer, signal = new AbortController().signal, remove = gone) {
  const calls: { url: string; headers: Headers; request: CellRequestInput }[] = [];
  const removed: string[] = [];
  const fake: typeof fetch = async (input, init) => {
    const { url, headers, method } = new Request(input, { ...init, signal: null });
    if (method === 'DELETE') {
      removed.push(url);
      return remove(url);
    }
    const request = JSON.parse(init?.body as string) as CellRequestInput;
    calls.push({ url, headers, request });
    return await answer(request, url.startsWith('http://one') ? 'datastore' : 'azure-tables');
  };
  return { calls, removed, endpoints, signal, fetch: fake };
}

const succeed: Answer = ({ layout, workload, concurrency }, provider) =>
  Response.json(result({ provider, layout, workload, concurrency, records: 1_000 * concurrency }));

describe('the coordinator', () => {
  test('runs every combination once, and each load at its best concurrency three times', async () => {
    const run = options(succeed);
    const { cells, failures } = await runPlan(PLAN, 'run1', run);
    expect(failures).toEqual([]);
    expect(cells).toHaveLength(2 * 3 * 3 * 2);
    const repeated = cells.filter(({ runs }) => runs.length > 1);
    expect(repeated.map(({ workload, concurrency, runs }) => [workload, concurrency, runs.length])).toEqual(
      Array.from({ length: 6 }, () => ['load', 8, 3]),
    );
  });

  test('repeats another concurrency where the best at first sight was only lucky', async () => {
    const seen = new Map<string, number>();
    const run = options(({ layout, workload, concurrency }, provider) => {
      const name = `${provider} ${layout} ${workload} ${concurrency}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
      const isLucky = concurrency === 1 && seen.get(name) === 1;
      return Response.json(
        result({ provider, layout, workload, concurrency, records: isLucky ? 9_000 : concurrency * 500 }),
      );
    });
    const { cells } = await runPlan(PLAN, 'run1', run);
    const loads = cells.filter(({ workload, layout }) => workload === 'load' && layout === 'batch');
    expect(loads.map(({ concurrency, runs }) => [concurrency, runs.length])).toEqual([
      [1, 3],
      [1, 3],
      [8, 3],
      [8, 3],
    ]);
  });

  test('stops repeating a load that fails', async () => {
    let loads = 0;
    const run = options((request, provider) => {
      if (request.workload !== 'load') return succeed(request, provider);
      loads += 1;
      return loads > 12 ? Response.json({ title: 'Unavailable' }, { status: 503 }) : succeed(request, provider);
    });
    const { failures } = await runPlan(PLAN, 'run1', run);
    expect(failures).toHaveLength(6 * 2);
  });

  test('takes turns between providers, and sends each its own keys', async () => {
    const run = options(succeed);
    await runPlan(PLAN, 'run1', run);
    expect(run.calls.slice(0, 2).map(({ url }) => url)).toEqual([
      'http://one/v1/compare/cells',
      'http://two/v1/compare/cells',
    ]);
    expect(run.calls[0]?.headers.get('authorization')).toBe('Bearer k1');
    expect(run.calls[1]?.headers.get('x-functions-key')).toBe('k2');
  });

  test('gives every load a table of its own, also when it is repeated', async () => {
    const run = options(succeed);
    await runPlan(PLAN, 'run1', run);
    const loads = run.calls
      .filter(({ request }) => request.workload === 'load')
      .map(({ url, request }) => url + request.dataset);
    expect(new Set(loads).size).toBe(loads.length);
  });

  test('keeps a failed cell with its error, and goes on', async () => {
    const problem = { title: 'Unavailable', detail: 'no operation succeeded' };
    const run = options((request, provider) =>
      request.layout === 'container' && provider === 'datastore' && request.workload === 'read'
        ? Response.json(problem, { status: 503 })
        : succeed(request, provider),
    );
    const { cells, failures } = await runPlan(PLAN, 'run1', run);
    expect(cells).toHaveLength(34);
    expect(failures).toHaveLength(2);
    expect(failures[0]).toEqual({
      provider: 'datastore',
      layout: 'container',
      workload: 'read',
      concurrency: 1,
      error: 'HTTP 503: no operation succeeded',
    });
  });

  test('refuses an answer from another provider than the one it asked', async () => {
    const run = options((request) => succeed(request, 'datastore'));
    const { failures } = await runPlan({ ...PLAN, concurrencies: [1], loadRepetitions: 1 }, 'run1', run);
    expect(failures).toHaveLength(9);
    expect(failures[0]?.error).toMatch(/is on datastore, not on azure-tables/);
  });

  test('says why a function could not be reached', async () => {
    const run = options(() => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    });
    const { failures } = await runPlan({ ...PLAN, concurrencies: [1] }, 'run1', {
      ...run,
      endpoints: endpoints.slice(0, 1),
    });
    expect(failures[0]?.error).toBe('fetch failed: connect ECONNREFUSED');
  });

  test('ends when its signal aborts', async () => {
    const ending = new AbortController();
    const run = options((request, provider) => {
      ending.abort(new Error('Ctrl-C'));
      return succeed(request, provider);
    }, ending.signal);
    await expect(
      runPlan(PLAN, 'run1', {
        ...run,
        fetch: (input, init) => (init?.signal?.aborted ? Promise.reject(ending.signal.reason) : run.fetch(input, init)),
      }),
    ).rejects.toThrow('Ctrl-C');
    expect(run.calls).toHaveLength(1);
  });
});

/** What the run asked for, as the addresses under which it is removed. */
function datasetsOf({ calls }: ReturnType<typeof options>): string[] {
  return calls.map(({ url, request }) => url.replace('cells', `datasets/${request.dataset}`));
}

describe('what a run made', () => {
  test('is removed when the plan has ended, each dataset once, that of the warm-up too', async () => {
    const run = options(succeed);
    await warmUp(100, 'run1', run);
    const { leftovers } = await runPlan(PLAN, 'run1', run);
    expect(leftovers).toEqual([]);
    expect(run.removed.toSorted()).toEqual([...new Set(datasetsOf(run))].toSorted());
  });

  test('is removed after cells that failed, too: they may have written', async () => {
    const run = options(() => Response.json({ title: 'Unavailable' }, { status: 503 }));
    await runPlan({ ...PLAN, concurrencies: [1] }, 'run1', run);
    expect(run.removed).toEqual(expect.arrayContaining(datasetsOf(run)));
  });

  test('is removed when the run is ended early, by requests that the end does not end', async () => {
    const ending = new AbortController();
    const run = options(() => {
      ending.abort(new Error('Ctrl-C'));
      return Promise.reject(ending.signal.reason);
    }, ending.signal);
    await expect(runPlan(PLAN, 'run1', run)).rejects.toThrow(/^Ctrl-C$/);
    expect(run.removed).toContain(datasetsOf(run)[0]);
  });

  test('is removed when the warm-up is ended early', async () => {
    const ending = new AbortController();
    const run = options(() => {
      ending.abort(new Error('Ctrl-C'));
      return Promise.reject(ending.signal.reason);
    }, ending.signal);
    await expect(warmUp(100, 'run1', run)).rejects.toThrow(/^Ctrl-C$/);
    expect(run.removed).toEqual(expect.arrayContaining(datasetsOf(run)));
  });

  test('is reported where it stays', async () => {
    const run = options(succeed, undefined, (url) =>
      url.startsWith('http://two') ? Response.json({ detail: 'not removed' }, { status: 503 }) : gone(url),
    );
    const { leftovers } = await runPlan({ ...PLAN, concurrencies: [1], loadRepetitions: 1 }, 'run1', run);
    const stayed = run.removed.filter((url) => url.startsWith('http://two')).map((url) => url.split('/').at(-1));
    expect(leftovers).toEqual(
      stayed.map((dataset) => ({ provider: 'azure-tables', dataset, error: 'HTTP 503: not removed' })),
    );
  });

  test('is named by the error of a run that was ended early, where it stays', async () => {
    const ending = new AbortController();
    const answer: Answer = () => {
      ending.abort(new Error('Ctrl-C'));
      return Promise.reject(ending.signal.reason);
    };
    const run = options(answer, ending.signal, () => new Response(null, { status: 401 }));
    await expect(runPlan(PLAN, 'run1', run)).rejects.toThrow(/^Ctrl-C; not removed: .*datastore run1c0 \(HTTP 401\)/);
  });
});

describe('the plans', () => {
  test('measure each cell for a second at least, the full one up to 128 callers', () => {
    expect(DEFAULT_PLAN.durationMs).toBeGreaterThanOrEqual(1_000);
    expect(DEFAULT_PLAN.concurrencies).toEqual([1, 8, 32]);
    expect(FULL_PLAN.concurrencies).toEqual([1, 2, 4, 8, 16, 32, 64, 128]);
  });

  test('hold each combination once', () => {
    const cells = cellsOf(DEFAULT_PLAN, ['datastore', 'azure-tables'], 'run1');
    const names = cells.map(({ provider, request }) =>
      [provider, request.layout, request.workload, request.concurrency].join(),
    );
    expect(names).toHaveLength(54);
    expect(new Set(names).size).toBe(54);
  });
});
