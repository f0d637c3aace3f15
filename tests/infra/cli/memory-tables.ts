// Tables in memory that commands fill, import and compare.
import { onTestFinished } from 'vitest';
import { checksumOf, encodedTable } from '../../../infra/cli/data/copy.ts';
import { importTable, type ImportOptions } from '../../../infra/cli/data/import.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type CodecName, encode, openStore, type Store } from '../../../shared/store/index.ts';

export const NEVER = new AbortController().signal;

export function memoryStore(): Store {
  const store = openStore({ driver: memoryDriver() });
  onTestFinished(() => store.close());
  return store;
}

export const VALUES: readonly (readonly [codec: Exclude<CodecName, 'encoded'>, value: unknown])[] = [
  ['msgpack', { name: 'Ada', visits: [1, -2, 0.5, null, true], '': {} }],
  ['msgpack', { when: new Date(1_234), map: new Map([[1, 'x']]), set: new Set([1]), big: 2n ** 70n, minus: -0 }],
  ['msgpack', [undefined, Number.NaN, new Uint8Array([1, 2])]],
  ['json', { text: 'é"\\', deep: [[[1]]] }],
  ['bytes', new Uint8Array([0, 255, 10])],
];

/** Makes a table `t` of records of all codecs, in containers that split. */
export async function filled(store: Store, order: 'hash' | 'key' = 'key', count = 3_000): Promise<void> {
  const table = await store.table('t', { order, codec: 'encoded', containerBytesMax: 16_384 });
  const items = Array.from({ length: count }, (_, number) => {
    const [codec, value] = VALUES[number % VALUES.length]!;
    return { key: `k${number}`, value: encode(codec, value), ...(number % 5 === 0 && { expiresAtMs: 8e12 + number }) };
  });
  await table.putMany(items);
}

/** Imports what lies at `source` as a table; gives the number of records. */
export function imported(
  store: Store,
  table: string,
  source: string,
  options: Partial<ImportOptions> = {},
): Promise<number> {
  const usual = { order: undefined, format: 'ndjson', keyOf: undefined, onProgress: () => {}, signal: NEVER } as const;
  return importTable({ ...usual, store, table, source, ...options });
}

/** The number and the checksum of a table's records. */
export async function sumOf(store: Store, name = 't'): Promise<string> {
  const { sum, records } = await checksumOf(await encodedTable(store, name, { create: false }), 3, NEVER);
  return `${records} ${sum}`;
}
