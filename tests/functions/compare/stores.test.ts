// Stores with containers of different sizes, in one instance.
import { expect, test } from 'vitest';
import { storesBySize, withEntities } from '../../../functions/compare/stores.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';

test('a driver takes no larger entities than asked for, nor than its provider does', () => {
  const driver = memoryDriver();
  const own = driver.limits.entityBytesMax;
  expect(withEntities(driver, 64).limits).toEqual({ ...driver.limits, entityBytesMax: 65_536 });
  expect(withEntities(driver, null).limits.entityBytesMax).toBe(own);
  expect(withEntities(driver, own).limits.entityBytesMax).toBe(own);
});

test('each size is opened once, and eight of them at most', async () => {
  const opened: (number | null)[] = [];
  const storeOf = storesBySize(async (kib) => {
    opened.push(kib);
    return { store: {} as never, usage: () => ({}) as never };
  });
  expect(await storeOf(64)).toBe(await storeOf(64));
  for (const kib of [null, 8, 16, 32, 128, 256, 512]) await storeOf(kib);
  expect(opened).toEqual([64, null, 8, 16, 32, 128, 256, 512]);
  await expect(storeOf(1_024)).rejects.toThrow(/at most 8 sizes/);
  await storeOf(8);
  expect(opened).toHaveLength(8);
});
