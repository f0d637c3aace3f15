// A plan that several machines drive in parts: what they leave is merged into what one coordinator would have measured.
import { describe, expect, test } from 'vitest';
import { type CellRequest, cellRequestSchema } from '../../shared/compare/cell/cell.ts';
import { runCell } from '../../shared/compare/cell/run.ts';
import { runPlan } from '../../shared/compare/plan/coordinator.ts';
import { mergePlanParts, type PartFile } from '../../shared/compare/plan/merge-plan-parts.ts';
import { type PlanPart, planPartOf } from '../../shared/compare/plan/part-file.ts';
import { planSchema, type PlanInput } from '../../shared/compare/plan/plan.ts';
import { runPlanPart, slotsOf } from '../../shared/compare/plan/plan-part.ts';
import { reportOf } from '../../shared/compare/report/report.ts';
import { reportSchema } from '../../shared/compare/report/schema.ts';
import { PRICES_2026_11 } from '../../shared/cost/prices-2026-11.ts';
import { fakeFunctions, fakeResult } from './fake-function.ts';
import { Clock } from './fake-store.ts';
import { fakeTargets } from './fakes.ts';

const COUNT = 4;
const HEADROOM_MS = 60_000;
const signal = new AbortController().signal;

const planOf = (change: PlanInput = {}) =>
  planSchema.parse({ workloads: ['load', 'ycsb-d'], callers: [1, 8], repetitions: 2, durationMs: 300, ...change });

interface Machines {
  readonly clock?: Clock;
  readonly plan?: ReturnType<typeof planOf>;
  readonly fetchOf?: (index: number) => typeof fetch;
}

/** All parts, on machines that share nothing but the clock. */
async function driven({ clock = new Clock(), plan = planOf(), fetchOf }: Machines = {}): Promise<PlanPart[]> {
  const parts = Array.from({ length: COUNT }, (_, index) =>
    runPlanPart({
      plan,
      part: { index, count: COUNT },
      startMs: clock.wallStartMs + HEADROOM_MS,
      endpoint: { provider: 'datastore', urls: ['https://datastore'], headers: {} },
      signal,
      fetch: fetchOf?.(index) ?? fakeFunctions().fetch,
      clock: clock.runtime,
    }),
  );
  return await clock.run(Promise.all(parts));
}

const filesOf = (parts: readonly PlanPart[]): PartFile[] =>
  parts.map((part, index) => ({ name: `${index}.json`, part: planPartOf(JSON.stringify(part)) }));

test('parts merged are one run: what one coordinator gets of as many instances', async () => {
  const merged = mergePlanParts(filesOf((await driven()).toReversed()));
  const endpoint = { provider: 'datastore', urls: ['https://datastore'], headers: {} } as const;
  const one = await runPlan({ ...planOf(), instances: [COUNT] }, 'run1', {
    endpoints: [endpoint],
    signal,
    fetch: fakeFunctions().fetch,
  });
  expect(merged.lost).toEqual([]);
  expect(merged.outcome.runs).toHaveLength(2 * 3 * 2 * 2);
  expect(merged.outcome).toEqual(one);
});

/** Four machines whose stores answer every call after 10 ms, in virtual time. */
function realLoads(clock: Clock) {
  const asked: CellRequest[] = [];
  const fetchOf = (): typeof fetch => {
    const targets = fakeTargets({ clock, latencyMs: 10 });
    return async (url, init) => {
      if (!(url as string).endsWith('/cells')) return new Response(null, { status: 204 });
      const request = cellRequestSchema.parse(JSON.parse(init!.body as string));
      asked.push(request);
      return Response.json(await runCell(request, targets, { signal, runtime: clock.runtime }));
    };
  };
  return { asked, fetchOf };
}

test('of a known service time the merged parts have the throughput and latency of the textbook', async () => {
  const clock = new Clock();
  const { fetchOf } = realLoads(clock);
  const plan = planOf({ workloads: ['ycsb-c'], layouts: ['record'], callers: [1, 8] });
  // A real request has a deadline by the real clock, which hardly moves here.
  const { outcome, durationMs, startAt } = mergePlanParts(filesOf(await driven({ clock, plan, fetchOf })));
  const report = reportSchema.parse(
    reportOf(outcome, { ...plan, instances: [COUNT] }, PRICES_2026_11, {
      startedAt: startAt,
      durationMs,
      coordinator: { cpu: 'none', cores: 1, memoryBytes: 1, platform: 'none', node: '24.0.0' },
      versions: {},
      commit: null,
      command: null,
      providers: [],
    }),
  );
  expect(outcome.failures).toEqual([]);
  for (const cell of report.cells) {
    expect(cell.instances).toBe(COUNT);
    expect(Math.abs(cell.recordsPerSecond.median / (COUNT * cell.callers * 100) - 1)).toBeLessThan(0.05);
    expect(Math.abs(cell.latency.p50Ms!.median / 10 - 1)).toBeLessThan(0.05);
    for (const run of cell.runs) expect(run.parts.map(({ skewMs }) => skewMs)).toEqual([0, 0, 0, 0]);
  }
  expect(report.cells).toHaveLength(2);
});

test('each part draws operations of its own, inserts in a range of its own, and opens its windows when the others do', async () => {
  const clock = new Clock();
  const { asked, fetchOf } = realLoads(clock);
  const plan = planOf({ workloads: ['ycsb-d'], layouts: ['record'], callers: [2] });
  await driven({ clock, plan, fetchOf });
  const first = asked.filter(({ windowAtMs }) => windowAtMs === asked[0]!.windowAtMs);
  expect(first.map(({ part }) => part.index).toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3]);
  expect(new Set(asked.map(({ insertFrom }) => insertFrom)).size).toBe(2 * COUNT);
  expect(new Set(asked.map(({ dataset }) => dataset)).size).toBe(1);
  const opens = slotsOf({ ...plan, instances: [COUNT] }, 'datastore', clock.wallStartMs + HEADROOM_MS);
  expect([...new Set(asked.map(({ windowAtMs }) => windowAtMs))]).toEqual(opens.map(({ opensAtMs }) => opensAtMs));
});

test('the first part loads before the start, and removes when the others have ended', async () => {
  const logs: string[][] = [];
  const parts = await driven({
    fetchOf: (index) => {
      const { fetch: fetchIt, log } = fakeFunctions();
      logs[index] = log;
      return fetchIt;
    },
  });
  expect(logs[0]![0]).toBe('POST datastore/v1/compare/datasets');
  expect(logs.map((log) => log.some((line) => line.startsWith('DELETE')))).toEqual([true, false, false, false]);
  expect(logs[0]!.findLastIndex((line) => line.endsWith('/cells'))).toBeLessThan(
    logs[0]!.findIndex((line) => line.startsWith('DELETE')),
  );
  const [first, ...others] = parts.map(({ endedAt }) => Date.parse(endedAt));
  for (const other of others) expect(first).toBeGreaterThan(other);
});

describe('a comparison of which something is missing', () => {
  test('has no figure where a part is missing, says so, and goes on with the other cloud', async () => {
    const parts = await driven();
    const azure = parts.map((part): PlanPart => ({
      ...part,
      provider: 'azure-tables',
      runs: part.runs.map(({ cell, result, ...run }) => ({
        ...run,
        cell: { ...cell, provider: 'azure-tables' },
        result: { ...result, provider: 'azure-tables' },
      })),
    }));
    const merged = mergePlanParts(filesOf([...parts.slice(1), ...azure]));
    expect(merged.lost).toEqual([
      expect.stringMatching(
        /^part 1 of 4 on datastore is missing, so none of the runs there has a figure; .* begin with p/,
      ),
    ]);
    expect(new Set(merged.outcome.runs.map(({ cell }) => cell.provider))).toEqual(new Set(['azure-tables']));
    expect(merged.outcome.runs).toHaveLength(24);
  });

  test('names files that hold no part, or one of another comparison, or one that was given', async () => {
    const files = filesOf(await driven());
    const [first] = files as [Extract<PartFile, { part: PlanPart }>];
    const { lost, outcome } = mergePlanParts([
      ...files,
      { name: 'garbage.json', why: 'no JSON' },
      { ...first, name: 'again.json' },
      { name: 'old.json', part: { ...first.part, startAt: '2020-01-01T00:00:00.000Z' } },
    ]);
    expect(lost).toEqual([
      'garbage.json: no JSON',
      'old.json: a part of another comparison than 0.json',
      expect.stringContaining('part 1 of 4 on datastore was given twice'),
    ]);
    expect(outcome.runs).toHaveLength(24);
  });

  test('is refused where no file holds a part', () => {
    expect(() => mergePlanParts([{ name: 'garbage.json', why: 'no JSON' }])).toThrow(
      /none of the files is a part.*\n.*garbage\.json: no JSON/,
    );
  });

  test.each(['{', '[]', '{"kind":"stowage-part"}'])('%s is no part', (text) => {
    expect(() => planPartOf(text)).toThrow(TypeError);
  });

  test('nor is a part that its plan does not have', async () => {
    const [part] = await driven();
    expect(() => planPartOf(JSON.stringify({ ...part, part: { index: 4, count: 4 } }))).toThrow(/none of its plan/);
    expect(() => planPartOf(JSON.stringify({ ...part, part: { index: 0, count: 2 } }))).toThrow(/none of its plan/);
  });
});

describe('a run', () => {
  test('that one part fails has no figure, and the others go on', async () => {
    const busy = fakeFunctions((request) =>
      request.layout === 'batch'
        ? Response.json({ detail: 'no operation succeeded' }, { status: 503 })
        : Response.json(fakeResult(request, 'datastore')),
    ).fetch;
    const { outcome } = mergePlanParts(
      filesOf(await driven({ fetchOf: (index) => (index === 2 ? busy : fakeFunctions().fetch) })),
    );
    expect(new Set(outcome.runs.map(({ cell }) => cell.layout))).toEqual(new Set(['record', 'container']));
    expect(new Set(outcome.failures.map(({ layout }) => layout))).toEqual(new Set(['batch']));
    expect(outcome.failures[0]!.error).toBe('1 of 4 parts failed, number 3 with: HTTP 503: no operation succeeded');
  });

  test('that a part comes too late for fails, and the part is there for the next', async () => {
    // Of the first run's request the second machine hears no answer for longer than the run has.
    const clock = new Clock();
    const { fetch: fetchIt } = fakeFunctions();
    let isFirst = true;
    const slow: typeof fetch = async (input, init) => {
      if (isFirst && (input as string).endsWith('/cells')) {
        isFirst = false;
        await clock.runtime.sleep(9_000);
      }
      return await fetchIt(input, init);
    };
    const { outcome } = mergePlanParts(
      filesOf(await driven({ clock, fetchOf: (index) => (index === 1 ? slow : fakeFunctions().fetch) })),
    );
    expect(outcome.failures).toHaveLength(1);
    expect(outcome.failures[0]!.error).toMatch(/^1 of 4 parts failed, number 2 with: came \d+ ms too late/);
    expect(outcome.runs).toHaveLength(23);
  });
});

test('a part that is ended has what there is', async () => {
  const clock = new Clock();
  const ended = new AbortController();
  let runs = 0;
  const running = runPlanPart({
    plan: planOf(),
    part: { index: 0, count: 1 },
    startMs: clock.wallStartMs + HEADROOM_MS,
    endpoint: { provider: 'datastore', urls: ['https://datastore'], headers: {} },
    signal: ended.signal,
    fetch: fakeFunctions().fetch,
    clock: clock.runtime,
    onEvent: ({ kind }) => {
      runs += Number(kind === 'ended');
      if (runs === 3) ended.abort(new Error('ended by Ctrl-C'));
    },
  });
  const part = await clock.run(running);
  expect(part).toMatchObject({ endedEarly: 'ended by Ctrl-C', failures: [], leftovers: [] });
  expect(part.runs).toHaveLength(3);
  const { outcome } = mergePlanParts(filesOf([part]));
  expect(outcome).toMatchObject({ endedEarly: 'part 1 of 1 on datastore: ended by Ctrl-C', failures: [] });
  expect(outcome.runs).toHaveLength(3);
});

test('a search cannot be driven in parts', async () => {
  const plan = planOf({ search: { latencyMsMax: 5 } });
  await expect(driven({ plan })).rejects.toThrow('parts cannot search');
});
