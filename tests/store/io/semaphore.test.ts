// A bound on what goes on at a time.
import { expect, test } from 'vitest';
import { Semaphore } from '../../../shared/store/io/semaphore.ts';

/** Acquires and notes when it may work. */
function enter(semaphore: Semaphore, name: string, entered: string[]): void {
  void (async () => {
    await semaphore.acquire();
    entered.push(name);
  })();
}

const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('no more than may work do, and those who wait come in the order in which they asked', async () => {
  const semaphore = new Semaphore(2);
  const entered: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) enter(semaphore, name, entered);
  await rest();
  expect(entered).toEqual(['a', 'b']);
  expect(semaphore.active).toBe(2);
  semaphore.release();
  // Whoever comes now stands behind those in line.
  enter(semaphore, 'e', entered);
  await rest();
  expect(entered).toEqual(['a', 'b', 'c']);
  semaphore.release();
  semaphore.release();
  await rest();
  expect(entered).toEqual(['a', 'b', 'c', 'd', 'e']);
  for (let left = 2; left > 0; left -= 1) semaphore.release();
  expect(semaphore.active).toBe(0);
});
