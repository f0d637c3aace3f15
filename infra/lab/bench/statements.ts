// Measurements without a counterpart: reads within the allowed staleness, the first record of a cold process, and the latency of point gets
// and puts in a table of 10,000 rows of six columns.
import { newHistogram, percentilesOf, recordLatency } from '../../../shared/lab/kit/histogram.ts';
import { randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import { PROVIDER_SHORT_NAMES } from '../../../shared/lab/report/names.ts';
import type { Store } from '../../../shared/store/index.ts';
import type { Statement } from './text.ts';
import { requestsToFirstRecord } from './first-record.ts';
import type { BenchProvider } from './providers.ts';

const ROWS = 10_000;
const AGE_MS = 3_600_000;

export async function statementsOf(provider: BenchProvider, turnMs: number): Promise<Statement[]> {
  const name = PROVIDER_SHORT_NAMES[provider.provider];
  const store = provider.store();
  await fill(store);
  const stale = await staleReads(store, turnMs);
  const cold = await requestsToFirstRecord(provider.driver('stowage'), 'rows', keyOf(ROWS / 2));
  const table = await store.table('rows');
  const get = await timed(turnMs, async (key) => void (await table.get(key)));
  const put = await timed(turnMs, async (key) => void (await table.put(key, rowOf(key))));
  return [
    {
      what: `${name}: get within the allowed staleness`,
      value: `${Math.round(stale.rate).toLocaleString('en-US')}/s, ${stale.requests} requests`,
    },
    { what: `${name}: requests of a cold process to its first record`, value: String(cold) },
    { what: `${name}: point get among ${ROWS} rows of six columns, 1 in flight`, value: get },
    { what: `${name}: point put among ${ROWS} rows of six columns, 1 in flight`, value: put },
  ];
}

async function fill(store: Store): Promise<void> {
  const table = await store.table('rows');
  const keys = Array.from({ length: ROWS }, (_, row) => keyOf(row));
  await table.putMany(keys.map((key) => ({ key, value: rowOf(key) })));
}

function keyOf(row: number): string {
  return `row${row}`;
}

function rowOf(key: string): object {
  return { key, name: `name of ${key}`, amount: key.length * 17, city: 'Lund', state: 'open', note: 'as agreed' };
}

/** Every record is read once strongly, then for one turn from memory. */
async function staleReads(store: Store, turnMs: number): Promise<{ rate: number; requests: number }> {
  const table = await store.table('rows');
  await table.getMany(Array.from({ length: ROWS }, (_, row) => keyOf(row)));
  const before = table.stats().requests;
  const begunMs = performance.now();
  let reads = 0;
  while (performance.now() - begunMs < turnMs) {
    await table.get(keyOf(reads % ROWS), { maxAgeMs: AGE_MS });
    reads += 1;
  }
  return { rate: (reads / (performance.now() - begunMs)) * 1_000, requests: table.stats().requests - before };
}

async function timed(turnMs: number, operation: (key: string) => Promise<void>): Promise<string> {
  const random = seededRandom(3);
  const histogram = newHistogram();
  const begunMs = performance.now();
  while (performance.now() - begunMs < 2 * turnMs) {
    const sentMs = performance.now();
    await operation(keyOf(randomInt(random, ROWS)));
    recordLatency(histogram, performance.now() - sentMs);
  }
  const { p50Ms, p99Ms } = percentilesOf(histogram);
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms (goal: p99 below 10 ms)`;
}
