// Closes after each test the things it opened, the last first.
import { afterEach } from 'vitest';

interface Closable {
  close(): unknown;
}

/** Call it once in a test file. The function it gives takes note of a thing, and hands it on. */
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
