// Most tests of the protocol begin with a table in order of keys, some records in it, and a look at
// what it holds.
import type { Order, Table } from '../../../shared/store/index.ts';
import { key, type Process, text, World } from './world.ts';

export async function open(world: World, process: Process, order: Order = 'key'): Promise<Table<string>> {
  return world.run(process.store.table<string>('t', { order }));
}

/** Two processes, of which `a` has opened a table and put the records 0 to `count` - 1. */
export async function begun(count = 0) {
  const world = new World();
  const [a, b] = [world.process(), world.process()];
  const table = await open(world, a);
  await fill(world, table, 0, count);
  return { world, a, b, table };
}

/** Puts the records `from` to `to` - 1, one after the other. */
export async function fill(world: World, table: Table<string>, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) await world.run(table.put(key(number), text(number)));
}

/** The keys that a scan gives, in its order. */
export async function keysBy(world: World, table: Table<string>): Promise<string[]> {
  const found: string[] = [];
  await world.run(
    (async () => {
      for await (const entry of table.scan()) found.push(entry.key);
    })(),
  );
  return found;
}
