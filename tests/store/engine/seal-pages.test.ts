// Sealing the pages of a commit: whoever compresses them, and whether or not that works, the same is written.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { UnsealedEvaluation } from '../../../shared/store/container/evaluate.ts';
import type { Compressor } from '../../../shared/store/contract/runtime.ts';
import { sealPages } from '../../../shared/store/engine/seal-pages.ts';
import { compressHere } from '../../../shared/store/format/compression.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { pageFrom } from '../../../shared/store/format/page.ts';

const RULES = { table: 't', limits: memoryDriver().limits, compression: 'zstd', pageBytes: 8_192 } as const;
const NODE = { incarnation: 'aaaaaaaaaaaaaaaa', container: 'bbbbbbbbbbbbbbbb' } as Header;
const EMPTY = { layers: [], kept: 0, dropped: [], deadSlots: [], nextNumber: 9, verdicts: [], appliedCount: 0 };

const draft = draftOf([40, 8_000, 9_000]);

/** New pages of so many bytes, of a base, or of a layer above it. */
function draftOf(pageBytes: readonly number[], layers: readonly number[] = []): UnsealedEvaluation {
  const pages = pageBytes.map((bytes, slot) => {
    const record = {
      key: Buffer.from('k'),
      version: 1,
      expiresAtMs: undefined,
      codec: 0,
      value: Buffer.alloc(bytes, 7),
    };
    return { low: Buffer.of(slot), slot, number: slot + 1, page: pageFrom([record]), chunksBefore: slot };
  });
  return { ...EMPTY, pages, layers };
}

let closed = 0;

function close(): Promise<void> {
  closed += 1;
  return Promise.resolve();
}

async function sealedBy(compress: Compressor['compress'], hangs = false): Promise<unknown> {
  const within = <T>(_: number, work: Promise<T>): Promise<T | undefined> =>
    hangs ? Promise.resolve(undefined) : work;
  const compressor = { compress, close };
  const { pages, written } = await sealPages(draft, NODE, { rules: RULES, compressor, deadlines: { within } });
  return pages.map((ref, index) => ({
    ...ref,
    content: Buffer.from(ref.content.sealed!),
    isWritten: written[index]?.ref === ref,
    before: written[index]?.chunksBefore,
  }));
}

test('pages are the same whether they are compressed here, there, late, or there in vain', async () => {
  const here = await sealedBy(compressHere);
  expect(here).toMatchObject([
    { slot: 0, compression: 0, isWritten: true, before: 0 },
    { slot: 1, compression: 2, isWritten: true, before: 1 },
    { slot: 2, compression: 2, isWritten: true, before: 2, chunksMost: 2 },
  ]);
  expect(await sealedBy((bodies, how) => Promise.resolve(compressHere(bodies, how)))).toEqual(here);
  expect(closed).toBe(0);
  expect(await sealedBy(() => Promise.resolve(undefined))).toEqual(here);
  expect(await sealedBy(() => new Promise<never>(() => {}), true)).toEqual(here);
  // Whoever failed or hangs is not asked again.
  expect(closed).toBe(2);
});

test('small pages are not compressed, and not sent to be', async () => {
  const asked: number[] = [];
  await sealedBy((bodies, how) => {
    asked.push(...bodies.map(({ length }) => length));
    return compressHere(bodies, how);
  });
  expect(asked.every((length) => length > 8_000)).toBe(true);
  expect(asked).toHaveLength(2);
});

test('an upper layer is compressed once it is worth three pages', async () => {
  const asked: number[] = [];
  const compressor = {
    compress: (bodies: readonly Uint8Array[], how: 'none' | 'deflate' | 'zstd') => {
      asked.push(...bodies.map(({ length }) => length));
      return compressHere(bodies, how);
    },
    close,
  };
  const deadlines = { within: <T>(_: number, work: Promise<T>): Promise<T | undefined> => work };
  const sealing = { rules: RULES, compressor, deadlines };
  const small = await sealPages(draftOf([8_000, 8_000, 8_000], [3]), NODE, sealing);
  expect(small.pages.map(({ compression }) => compression)).toEqual([0, 0, 0]);
  expect(asked).toEqual([]);
  const large = await sealPages(draftOf([9_000, 9_000, 9_000], [3]), NODE, sealing);
  expect(large.pages.map(({ compression }) => compression)).toEqual([2, 2, 2]);
  expect(asked).toHaveLength(3);
});
