// What a test opened is closed after it, the last first.
import { afterEach } from 'vitest';

interface Closable {
  close(): unknown;
}

/** To be called once in a test file: gives a function that takes note of what a test opened, and hands it on. */
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
