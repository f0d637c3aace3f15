// Plans, the parts of a run together, the search for a rate, and what documents published.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { groupsOf, planOf, PLANS, searchSchema } from '../../../shared/lab/plan/plan.ts';
import {
  decodeHistogram,
  encodeHistogram,
  latenciesOf,
  operationsNeeded,
  percentileOf,
} from '../../../shared/lab/kit/histogram.ts';
import { type Merged, mergeParts } from '../../../shared/lab/plan/outcome.ts';
import { COUNTERS, histogramOf, result } from '../fakes.ts';
import { judged, searchRate, tryMsOf } from '../../../shared/lab/plan/rate-search.ts';
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { publishedText } from '../../../shared/lab/plan/published.ts';

test('a plan is read from a file as it was written into a report', () => {
  for (const plan of Object.values(PLANS)) expect(planOf(JSON.stringify(plan))).toEqual(plan);
});

test.each([
  ['{', /a plan is JSON/],
  ['{"callers":[]}', /a plan needs callers, ratesPerSecond or a search/],
  ['{"callers":[8,8]}', /nothing may stand twice/],
  ['{"warmup":{"leastMs":2000,"mostMs":1000}}', /warmup\.leastMs is above/],
  ['{"containerKib":[8]}', /a container has 16 to 703 KiB.*\n.*containerKib\[0\]/],
  ['{"color":"red"}', /color/],
])('%s is no plan', (text, why) => {
  expect(() => planOf(text)).toThrow(TypeError);
  expect(() => planOf(text)).toThrow(why);
});

test('the plan in the README is one', () => {
  const readme = readFileSync(new URL('../../../shared/lab/README.md', import.meta.url), 'utf8');
  const [, plan] = /```json\n([^]*?)```/.exec(readme)!;
  expect(planOf(plan!)).toMatchObject({ name: 'evening', search: { triesMax: 12 } });
});

function encoded(latenciesMs: readonly number[]): string {
  return encodeHistogram(histogramOf(latenciesMs));
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

test('the merged histogram of several parts is that of all their operations', () => {
  const all = upTo(20_000).map((at) => at / 10);
  const parts = [0, 1, 2].map((part) => result({ histogram: encoded(all.filter((_, at) => at % 3 === part)) }));
  const merged = mergeParts(parts).histogram;
  expect(latenciesOf(merged)).toEqual(latenciesOf(decodeHistogram(encoded(all))));
  const { meanMs, p50Ms, p99Ms, p999Ms, maxMs } = latenciesOf(merged);
  const rounded = [meanMs, p50Ms, p99Ms, p999Ms, maxMs].map((ms) => Math.round(ms! / 5) * 5);
  expect(rounded).toEqual([1_000, 1_000, 1_980, 2_000, 2_000]);
});

test('rates of parts, each over its own window, and counts are added up', () => {
  const one = result({ records: 900, durationMs: 1_000, errors: { throttled: 2 } });
  const other = result({ records: 1_000, durationMs: 2_000, errors: { throttled: 1, '14': 1 } });
  const merged = mergeParts([one, other]);
  expect(merged.recordsPerSecond).toBe(900 + 500);
  expect(merged.errors).toEqual({ throttled: 3, '14': 1 });
  expect(merged.store).toBeNull();
  expect(merged.usage).toMatchObject({ requests: 400, retries: null, conflicts: 2, billable: { reads: 200 } });
});

test('the counters of all instances’ stores are added up', () => {
  const one = { ...COUNTERS, commits: 5, foreignCommits: 2 };
  const other = { ...COUNTERS, commits: 6, yields: 1 };
  const merged = mergeParts([result({ store: one }), result({ store: other })]);
  expect(merged.store).toEqual({ ...COUNTERS, commits: 11, foreignCommits: 2, yields: 1 });
});

test.each([
  [50, 20],
  [99, 1_000],
  [99.9, 10_000],
])('p%d needs %i operations', (percentile, needed) => {
  expect(operationsNeeded(percentile)).toBe(needed);
  expect(percentileOf(decodeHistogram(encoded(upTo(needed - 1))), percentile)).toBeNull();
  expect(percentileOf(decodeHistogram(encoded(upTo(needed))), percentile)).not.toBeNull();
});

test('no percentile is above the maximum', () => {
  // The bucket of 1,234.567 ms ends above that value.
  const { p50Ms, p99Ms, maxMs } = latenciesOf(histogramOf(Array.from({ length: 1_000 }, () => 1_234.567)));
  expect(p50Ms).toBeLessThanOrEqual(maxMs);
  expect(p99Ms).toBeLessThanOrEqual(maxMs);
  expect(maxMs).toBeCloseTo(1_234.567, 3);
});

const SEARCH = searchSchema.parse({ percentile: 99, latencyMsMax: 20, fromPerSecond: 100, toPerSecond: 100_000 });

/** A store that holds up to `most` operations per second. */
const holdsUpTo = (most: number) => async (ratePerSecond: number) => ({
  ratePerSecond,
  achievedPerSecond: ratePerSecond,
  latencyMs: 1,
  isHeld: ratePerSecond <= most,
  why: '',
});

test.each([100, 101, 1_000, 4_321, 99_999])('a search finds %i per second to within a tenth', async (most) => {
  const { confirmed, tries } = await searchRate({ ...SEARCH, triesMax: 20 }, holdsUpTo(most));
  expect(confirmed!.ratePerSecond).toBeLessThanOrEqual(most);
  expect(confirmed!.ratePerSecond).toBeGreaterThan(most / 1.1);
  expect(tries.length).toBeLessThan(16);
});

test('a search ends if its first rate fails, if the highest holds, or after its last try', async () => {
  const none = await searchRate(SEARCH, holdsUpTo(50));
  expect([none.confirmed, none.tries.length]).toEqual([null, 1]);
  expect((await searchRate({ ...SEARCH, triesMax: 20 }, holdsUpTo(Infinity))).confirmed?.ratePerSecond).toBe(100_000);
  const short = await searchRate({ ...SEARCH, triesMax: 3 }, holdsUpTo(Infinity));
  expect(short.tries.map((one) => one.ratePerSecond)).toEqual([100, 200, 400]);
});

test('a search reports the run that confirms a rate, and falls back to a lower one if none does', async () => {
  const held = holdsUpTo(1_000);
  let sent = 0;
  // Rates above 500 hold at first by luck, and fail when they are tried again.
  const lucky = async (ratePerSecond: number) => {
    sent += 1;
    const one = await held(ratePerSecond);
    return sent > 7 && ratePerSecond > 500 ? { ...one, isHeld: false } : { ...one, latencyMs: sent };
  };
  const { confirmed, tries } = await searchRate({ ...SEARCH, triesMax: 7 }, lucky);
  expect(tries.map((one) => Math.round(one.ratePerSecond))).toEqual([100, 200, 400, 800, 1_600, 1_131, 951, 951, 800]);
  expect(confirmed).toMatchObject({ ratePerSecond: 400, latencyMs: 10, isHeld: true });
});

function runOf(latencyMs: number, operations: number, change: Partial<Merged> = {}): Merged {
  const histogram = histogramOf(Array<number>(operations).fill(latencyMs));
  return { ...mergeParts([result()]), recordsPerCall: 1, recordsPerSecond: 100, histogram, ...change };
}

test.each([
  ['', runOf(10, 2_000)],
  ['p99 was 30.0 ms', runOf(30, 2_000)],
  ['', runOf(10, 2_000, { recordsPerSecond: 90 })],
  ['80.0 a second were answered', runOf(10, 2_000, { recordsPerSecond: 80 })],
  ['failed: 3 throttled', runOf(10, 2_000, { errors: { throttled: 3 } })],
  ['900 operations are too few for p99', runOf(10, 900)],
])('a run is judged as: "%s"', (why, run) => {
  const { why: said, isHeld } = judged(SEARCH, 100, run);
  expect([said.replace(/30\.0\d*/, '30.0'), isHeld]).toEqual([why, why === '']);
});

test('each rate is tried for long enough to have its percentile', () => {
  expect(tryMsOf({ percentile: 99 }, 100, 1_000)).toBe(15_000);
  expect(tryMsOf({ percentile: 99 }, 10_000, 1_000)).toBe(1_000);
  expect(tryMsOf({ percentile: 99.9 }, 10, 1_000)).toBe(60_000);
});

const DOCUMENTS = ['document-b', 'document-c', 'document-e'] as const;

/** The text of a run that measured all cells of the plan: each rate differs from all others. */
function textOf(name: (typeof DOCUMENTS)[number]): string {
  const items = groupsOf({ ...PLANS[name], repetitions: 1 }, PROVIDERS).flat();
  const cells = items.map(({ cell }, at) => ({
    ...cell,
    recordsPerSecond: { median: 101 + at },
    dollarsPerMillionRecords: { median: 1 / (101 + at) },
  }));
  return publishedText(name, cells);
}

/** The figures that end a row: then, Datastore and Azure, each with its ratio. */
const FIGURES = / (?<then>[\d,.-]+) +\S+(?: x)? +(?<datastore>[\d,.-]+) +\S+(?: x)? +(?<azure>[\d,.-]+) +\S+(?: x)?$/;

test.each(DOCUMENTS)('the plan %s measures a cell of its own for each row on each cloud', (name) => {
  for (const table of textOf(name).split('\n\n').slice(1, -1)) {
    const rows = table.split('\n').slice(1);
    const figures = rows.map((row) => FIGURES.exec(row)!.groups!);
    for (const provider of ['datastore', 'azure'])
      expect(new Set(figures.map((figure) => figure[provider])).size).toBe(rows.length);
    expect(figures.map(({ datastore }) => datastore)).not.toContain('-');
    // Azure Tables has no batched read.
    const missing = rows.filter((_, at) => figures[at]!['azure'] === '-');
    expect(missing.every((row) => row.includes('read-together, batch'))).toBe(true);
  }
});

test('ratios are to the first row, then and on each cloud, and missing figures have none', () => {
  const cell = { provider: 'azure-tables', workload: 'load', callers: 1, recordBytes: 200 } as const;
  const dollarsPerMillionRecords = { median: 1 };
  const text = publishedText('document-b', [
    { ...cell, layout: 'batch', recordsPerSecond: { median: 4_000 }, dollarsPerMillionRecords },
    { ...cell, layout: 'record', recordsPerSecond: { median: 500 }, dollarsPerMillionRecords },
  ]);
  // The document printed 563 entities per second, of five runs.
  expect(text).toMatch(/^ {2}group transactions +load, batch, 1 caller +563 +1\.0 x +- +- +4,000 +1\.0 x$/m);
  expect(text).toMatch(
    /^ {2}without group transactions +load, record, 1 caller +5\.00 +0\.0089 x +- +- +500 +0\.13 x$/m,
  );
  expect(text).toMatch(/^ {2}in parallel +load, batch, 3 callers +1,462 +2\.6 x +- +- +- +-$/m);
  expect(text).toMatch(/^ {2}this store +load, container, 1 caller( +-){6}$/m);
});
