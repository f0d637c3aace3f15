// Things that close when their test is over.
import { afterEach, onTestFinished } from 'vitest';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type Store } from '../../shared/store/index.ts';

interface Closable {
  close(): unknown;
}

/** Call it once in a test file. The function it gives closes things, the last first. */
export function closedAfterEach(): <T extends Closable>(thing: T) => T {
  const open = new Set<Closable>();
  afterEach(async () => {
    for (const thing of [...open].toReversed()) await thing.close();
    open.clear();
  });
  return (thing) => {
    open.add(thing);
    return thing;
  };
}

/** A store on a memory driver, which closes when its test is over. */
export function newStore(): Store {
  const store = openStore({ driver: memoryDriver() });
  onTestFinished(() => store.close());
  return store;
}
