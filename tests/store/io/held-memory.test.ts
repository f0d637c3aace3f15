// The bound of the cache holds for the memory of the process, not only for the cache's own sums.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('held-memory-process.ts', import.meta.url));
const MIB = 1024 * 1024;
/** What a store holds beside its cache: compiled code, contention, kept headers, buffers. */
const CONSTANT_BYTES = 2 * MIB;

async function heldBytes(cacheBytesMax: number): Promise<number> {
  const run = await promisify(execFile)(process.execPath, ['--expose-gc', SCRIPT, String(cacheBytesMax)]);
  return Number(run.stdout);
}

test('a store with more data than fits holds its cacheBytesMax, a tenth more, and a constant', async () => {
  const [small = 0, large = 0] = await Promise.all([MIB, 5 * MIB].map(heldBytes));
  expect(small).toBeLessThan(1.1 * MIB + CONSTANT_BYTES);
  expect(large).toBeLessThan(1.1 * 5 * MIB + CONSTANT_BYTES);
  expect(large - small).toBeGreaterThan(0.7 * 4 * MIB);
  expect(large - small).toBeLessThan(1.1 * 4 * MIB);
});
