// Bodies: how much of one is read.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readBody } from '../../../functions/http/body.ts';

const MIB = 1024 * 1024;
const { signal } = new AbortController();
const BOUNDS = { bytesMax: MIB, signal, take: () => {} };

function requestOf(body: Uint8Array, headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/', { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> });
}

function streamed(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  headers: Record<string, string> = {},
): Request {
  const body = ReadableStream.from(pieces);
  return new Request('http://localhost/', { method: 'POST', headers, body, duplex: 'half' });
}

const GZIP = { 'Content-Encoding': 'gzip' };

test('a reader inflates no more of a gzip bomb than it may keep', async () => {
  let taken = 0;
  const bounds = { bytesMax: MIB, signal, take: (bytes: number) => void (taken += bytes) };
  const bomb = requestOf(gzipSync(Buffer.alloc(16 * MIB)), GZIP);
  await expect(readBody(bomb, bounds)).rejects.toMatchObject({ code: 'too_large' });
  expect(taken).toBeLessThanOrEqual(MIB);
});

test('x-gzip is gzip by its old name', async () => {
  const body = requestOf(gzipSync('one'), { 'Content-Encoding': 'X-GZip' });
  expect(Buffer.from(await readBody(body, BOUNDS)).toString()).toBe('one');
});

test('a body in several pieces, and gzip in several members, are read whole', async () => {
  const members = Buffer.concat([gzipSync('one '), gzipSync('two')]);
  expect(Buffer.from(await readBody(requestOf(members, GZIP), BOUNDS)).toString()).toBe('one two');
  const pieces = streamed([members.subarray(0, 5), members.subarray(5)], GZIP);
  expect(Buffer.from(await readBody(pieces, BOUNDS)).toString()).toBe('one two');
});

test('a body in many pieces takes no more memory than in few', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const heldBytes = (): number => {
    gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = heldBytes();
  let held = 0;
  function* pieces(): Generator<Uint8Array> {
    for (let left = 65_535; left > 0; left -= 1) yield Buffer.alloc(1);
    held = heldBytes() - before;
    yield Buffer.alloc(1);
  }
  let taken = 0;
  const bounds = { bytesMax: MIB, signal, take: (bytes: number) => void (taken += bytes) };
  expect(await readBody(streamed(pieces()), bounds)).toHaveLength(65_536);
  expect(held).toBeLessThan(4 * MIB);
  expect(taken).toBe(65_536);
});

test('a body in more pieces than any network makes of it is refused', async () => {
  let sent = 0;
  function* pieces(): Generator<Uint8Array> {
    while (sent++ < 70_000) yield Buffer.alloc(1);
  }
  const refused = { code: 'too_large', message: expect.stringContaining('65536 pieces: send larger ones') };
  await expect(readBody(streamed(pieces()), BOUNDS)).rejects.toMatchObject(refused);
  expect(sent).toBeLessThan(66_000);
});

test('a reader reads no more of gzip that inflates to nothing than a body may have', async () => {
  const piece = Buffer.alloc(3_200 * 20, gzipSync(''));
  let sent = 0;
  function* pieces(): Generator<Uint8Array> {
    while (sent++ < 160) yield piece;
  }
  await expect(readBody(streamed(pieces(), GZIP), BOUNDS)).rejects.toMatchObject({ code: 'too_large' });
  expect(sent).toBeLessThan(40);
});

test('gzip that is cut off is malformed', async () => {
  const cut = requestOf(gzipSync('x'.repeat(1_000)).subarray(0, -4), GZIP);
  await expect(readBody(cut, BOUNDS)).rejects.toMatchObject({ code: 'malformed' });
});
