// Measures point gets and puts as a table grows a hundredfold: requests, latency, memory. The cache holds the same share of the data at each
// size, and the branches are warm, so that only the tree's depth and the table's size matter.
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { newHistogram, percentilesOf, recordLatency } from '../../../shared/lab/kit/histogram.ts';
import { uniformIndexes } from '../../../shared/lab/work/distributions.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { type RecordFields, recordSource } from '../../../shared/lab/work/records.ts';
import { memoryDriver, memoryState } from '../../../shared/drivers/memory.ts';
import { type Driver, openStore, type Store } from '../../../shared/store/index.ts';
import { putAll } from './contest/sides.ts';
import { requestsToFirstRecord } from './first-record.ts';
import { startAzure } from './providers.ts';

const SIZES = [10_000, 100_000, 1_000_000] as const;
const MEMORY = 'memory';
const RECORD_BYTES = 500;
const CACHE_SHARE = 0.1;
const LOADED_PER_CALL = 10_000;
const OPERATIONS = 2_000;
/** The largest calls hand over 10,000 records. */
const TIMEOUT_MS = 120_000;

export interface ScaleResult {
  readonly backend: string;
  readonly records: number;
  readonly cacheBytes: number;
  /** Requests of a cold process to its first record, with opening the table. */
  readonly firstRecordRequests: number;
  readonly get: OperationResult;
  readonly put: OperationResult;
  /** Growth of this process's heap and buffers since before the table was opened, after a collection; undefined for the memory driver. */
  readonly memoryBytes: number | undefined;
}

export interface OperationResult {
  readonly requestsPerOperation: number;
  readonly p50Ms: number;
}

/** Each size on the memory driver and on Azurite; `collect` collects garbage now. */
export async function runScale(
  collect: () => void,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<ScaleResult[]> {
  const results: ScaleResult[] = [];
  // Azurite comes first: the memory driver would leave its data in this process's heap.
  for (const records of SIZES) {
    const azure = await startAzure();
    try {
      const subject = { backend: azure.backend, records, driver: () => azure.driver('scale') };
      results.push(await measure(subject, collect, signal));
      log(line(results.at(-1)!));
    } finally {
      await azure.close();
    }
  }
  for (const records of SIZES) {
    const state = memoryState();
    const subject = { backend: MEMORY, records, driver: () => memoryDriver({ state }) };
    results.push(await measure(subject, collect, signal));
    log(line(results.at(-1)!));
  }
  return results;
}

/** An empty table of the wanted size; each driver is a new one on the same data. */
interface Subject {
  readonly backend: string;
  readonly records: number;
  readonly driver: () => Driver;
}

async function measure(
  { backend, records, driver }: Subject,
  collect: () => void,
  signal: AbortSignal,
): Promise<ScaleResult> {
  await load(driver(), records, signal);
  const cacheBytes = CACHE_SHARE * records * RECORD_BYTES;
  const { key } = recordSource(1, RECORD_BYTES)(0, 0);
  const firstRecordRequests = await requestsToFirstRecord(driver(), 'scale', key);
  const before = await occupied(collect);
  const store = openStore({ driver: driver(), cacheBytesMax: cacheBytes, timeoutMs: TIMEOUT_MS });
  try {
    await operate(store, records, 'get', signal);
    const get = await operate(store, records, 'get', signal);
    const put = await operate(store, records, 'put', signal);
    const memoryBytes = backend === MEMORY ? undefined : (await occupied(collect)) - before;
    return { backend, records, cacheBytes, firstRecordRequests, get, put, memoryBytes };
  } finally {
    await store.close();
  }
}

async function load(driver: Driver, records: number, signal: AbortSignal): Promise<void> {
  const store = openStore({ driver, timeoutMs: TIMEOUT_MS });
  try {
    const table = await store.table<RecordFields>('scale');
    const source = recordSource(1, RECORD_BYTES);
    for (let first = 0; first < records; first += LOADED_PER_CALL) {
      await putAll(
        table,
        Array.from({ length: LOADED_PER_CALL }, (_, index) => source(first + index, 0)),
      );
      // The memory driver answers without leaving the event loop's turn: no signal would ever be handled.
      await turn();
      signal.throwIfAborted();
    }
  } finally {
    await store.close();
  }
}

/** Point operations on random records, one in flight. */
async function operate(store: Store, records: number, verb: 'get' | 'put', signal: AbortSignal) {
  const table = await store.table('scale');
  const source = recordSource(1, RECORD_BYTES);
  const draw = uniformIndexes(records, seededRandom(verb === 'get' ? 1 : 2));
  const histogram = newHistogram();
  const before = table.stats().requests;
  for (let operation = 0; operation < OPERATIONS; operation += 1) {
    const { key, fields } = source(draw(), 1);
    const sentMs = performance.now();
    if (verb === 'put') await table.put(key, fields, { signal });
    else if ((await table.get(key, { signal })) === undefined) throw new Error(`absent: ${key}`);
    recordLatency(histogram, performance.now() - sentMs);
  }
  const requestsPerOperation = (table.stats().requests - before) / OPERATIONS;
  return { requestsPerOperation, p50Ms: percentilesOf(histogram).p50Ms };
}

/** Bytes in use. Buffers are freed only after the collection that found them unused, so it collects three times. */
async function occupied(collect: () => void): Promise<number> {
  for (let times = 0; times < 3; times += 1) {
    collect();
    await delay(100);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function line({ backend, records, cacheBytes, firstRecordRequests, get, put, memoryBytes }: ScaleResult): string {
  const memory = `${memoryBytes === undefined ? '' : `memory ${mib(memoryBytes)} with `}a cache of ${mib(cacheBytes)}`;
  return `${backend}, ${records.toLocaleString('en-US')} records: get ${spent(get)}; put ${spent(put)}; ${memory}; first record of a cold process ${firstRecordRequests} requests`;
}

function spent({ requestsPerOperation, p50Ms }: OperationResult): string {
  return `${requestsPerOperation.toFixed(2)} requests, p50 ${p50Ms.toFixed(2)} ms`;
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
