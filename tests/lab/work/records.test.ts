import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { keyOf, tenantOf } from '../../../shared/lab/work/keys.ts';
import { fieldBytes, recordSource } from '../../../shared/lab/work/records.ts';

describe('sample records', () => {
  test('hold exactly as many bytes of text as asked for', () => {
    for (const recordBytes of [200, 500, 5_000]) {
      const source = recordSource(7, recordBytes);
      const sizes = Array.from({ length: 500 }, (_, index) =>
        Buffer.byteLength(Object.values(source(index, 0).fields).join('')),
      );
      expect(new Set(sizes)).toEqual(new Set([recordBytes]));
      expect(fieldBytes(source(0, 0).fields)).toBe(recordBytes);
    }
  });

  test('follow from the seed', () => {
    const one = JSON.stringify(Array.from({ length: 100 }, (_, index) => recordSource(7, 500)(index, 0)));
    const other = JSON.stringify(Array.from({ length: 100 }, (_, index) => recordSource(8, 500)(index, 0)));
    const again = JSON.stringify(Array.from({ length: 100 }, (_, index) => recordSource(7, 500)(index, 0)));
    expect(again).toBe(one);
    expect(other).not.toBe(one);
  });

  test('compress like text, in pages of 8 KiB: to between 40 and 65 percent', () => {
    const source = recordSource(1, 500);
    const page = Buffer.from(JSON.stringify(Array.from({ length: 16 }, (_, index) => source(index * 37, 0))));
    const ratio = zstdCompressSync(page).length / page.length;
    expect(ratio).toBeGreaterThan(0.4);
    expect(ratio).toBeLessThan(0.65);
  });
});

describe('keys', () => {
  test('are unique', () => {
    expect(new Set(Array.from({ length: 100_000 }, (_, index) => keyOf(index))).size).toBe(100_000);
  });

  test('give records that are handed over together one tenant, and use sixteen', () => {
    const tenants = Array.from({ length: 8_000 }, (_, index) => tenantOf(keyOf(index)));
    expect(new Set(tenants.slice(500, 1_000)).size).toBe(1);
    expect(new Set(tenants).size).toBe(16);
  });

  test('do not come in order', () => {
    const keys = Array.from({ length: 500 }, (_, index) => keyOf(index));
    expect(keys.toSorted()).not.toEqual(keys);
  });
});
