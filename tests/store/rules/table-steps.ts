// A table in order of keys, some records in it, and a look at what it holds.
import { expect } from 'vitest';
import type { MemoryCall } from '../../../shared/drivers/memory.ts';
import type { Order, Scan, ScanOptions, StoreOptions, Table, TableOptions } from '../../../shared/store/index.ts';
import { leavesOf, statesOf } from './tree-of.ts';
import { key, type Process, text, World } from './world.ts';

export async function open<V = string>(world: World, process: Process, order: Order = 'key'): Promise<Table<V>> {
  return world.run(process.store.table<V>('t', { order }));
}

/** A world in which one process has opened a table. */
export async function opened<V = string>(
  options: Omit<TableOptions, 'codec' | 'schema'> = {},
  world = new World(),
  own: Partial<StoreOptions> = {},
) {
  const process = world.process(own);
  const table = await world.run(process.store.table<V>('t', options));
  return { world, process, store: process.store, table };
}

/** Two processes, of which `a` has opened a table and put the records 0 to `count` - 1. */
export async function begun(count = 0) {
  const world = new World();
  const [a, b] = [world.process(), world.process()];
  const table = await open(world, a);
  await fill(world, table, 0, count);
  return { world, a, b, table };
}

/** Two processes that have both opened an empty table. */
export async function twoProcesses<V = string>(world = new World()) {
  const [a, b] = [world.process(), world.process()];
  return { world, a, b, tableA: await open<V>(world, a), tableB: await open<V>(world, b) };
}

/** As `twoProcesses`, with one record in the table; the calls that made it were taken. */
export async function warm() {
  const both = await twoProcesses();
  await both.world.run(both.tableA.put('first', '0'));
  both.a.takeCalls();
  return both;
}

/** Puts the records `from` to `to` - 1, one after the other. */
export async function fill(world: World, table: Table<string>, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) await world.run(table.put(key(number), text(number)));
}

/** The records `from` to `to` - 1, as items of a batch. */
export function items(from: number, to: number, bytes = 100): { key: string; value: string }[] {
  return Array.from({ length: to - from }, (_, at) => ({ key: key(from + at), value: text(from + at, bytes) }));
}

/** The keys `from` to `to` - 1. */
export function keys(from: number, to: number): string[] {
  return items(from, to, 0).map(({ key: name }) => name);
}

/** The keys that a scan gives, in its order. */
export function keysOf<V>(scan: Scan<V>): Promise<string[]> {
  return Array.fromAsync(scan, (entry) => entry.key);
}

/** As `keysOf`, of the whole table or a range, in the world's time. */
export function keysBy<V>(world: World, table: Table<V>, options: ScanOptions = {}): Promise<string[]> {
  return world.run(keysOf(table.scan(options)));
}

/** A process that has opened the table, and knows no more of it. */
export async function newcomer<V = string>(world: World, options?: Partial<StoreOptions>) {
  const process = world.process(options);
  const table = await open<V>(world, process);
  process.takeCalls();
  return { process, table };
}

/** A merging process that loses its provider as soon as one leaf is retired. */
export function diesAtRetirement(world: World, process: Process): void {
  process.rule((call) => {
    if (statesOf(world).includes('retired')) return { fail: 'unavailable' };
    return isRetirement(call) && call.writes.length > 1 ? { only: [0] } : undefined;
  });
}

/** Only a retirement writes a header without pages here. */
export function isRetirement(call: MemoryCall): call is Extract<MemoryCall, { kind: 'write' }> {
  return call.kind === 'write' && call.writes.some(({ kind, parts }) => kind === 'patch' && parts.length === 2);
}

/** A vacuum retires a leaf and dies. Gives the leaf, the key at its low, and its neighbours. */
export async function retireOne(world: World, quietMs = 60_000) {
  const vacuumer = world.process();
  diesAtRetirement(world, vacuumer);
  await expect(world.run(vacuumer.store.vacuum('t', { quietMs }))).rejects.toMatchObject({ code: 'unknown' });
  const leaves = leavesOf(world.state, 't');
  const at = leaves.findIndex(({ header }) => header.state === 'retired');
  const [left, retired, behind] = [leaves[at - 1]!, leaves[at]!, leaves[at + 1]!];
  return { vacuumer, left, retired, behind, low: Buffer.from(retired.header.low).toString() };
}
