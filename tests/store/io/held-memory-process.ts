// Measures the memory that a store holds after many calls, in a process of its own: `node
// --expose-gc held-memory-process.ts CACHE_BYTES` prints how many bytes its closing frees.
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { randomText } from '../../../shared/lab/work/sample-records.ts';
import { randomInt, seededRandom } from '../../../shared/lab/kit/random.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';

const RECORDS = 6_000;
const VALUE_BYTES = 1_000;
const SLICE = 500;

const driver = memoryDriver();
const random = seededRandom(1);
const key = (number: number): string => `key ${String(number).padStart(6, '0')}`;
const value = (): string => randomText(random, VALUE_BYTES);

/** Lone and shared commits, reads of pages and of whole leaves. */
async function use(store: Store): Promise<void> {
  const table = await store.table<string>('t');
  for (let first = 0; first < RECORDS; first += SLICE)
    await table.putMany(Array.from({ length: SLICE }, (_, index) => ({ key: key(first + index), value: value() })));
  for await (const name of table.keys()) if (name === '') throw new Error('no key is empty');
  for (let count = 0; count < RECORDS / 4; count += 1) {
    await table.put(key(randomInt(random, RECORDS)), value());
    await table.get(key(randomInt(random, RECORDS)));
  }
}

async function usedBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise(setImmediate);
    globalThis.gc!();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

let store: Store | undefined = openStore({ driver, cacheBytesMax: Number(process.argv[2]) });
await use(store);
const before = await usedBytes();
await store.close();
store = undefined;
console.log(before - (await usedBytes()));
