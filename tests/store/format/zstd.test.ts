import { createHook } from 'node:async_hooks';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { zstdCompressed, zstdExpanded } from '../../../shared/store/format/envelope.ts';

const TEXT = Buffer.from('all work and no play '.repeat(400));
const FRAME = zstdCompressSync(TEXT);

/** Bytes that compression does not shrink. */
const NOISE = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (Math.imul(at, 2_654_435_761) >>> 13) & 0xff));

test.each([
  ['a text', TEXT],
  ['noise', NOISE],
  ['nothing', Buffer.alloc(0)],
  ['a large text', Buffer.alloc(200_000, 'abc')],
])('%s survives compression and expansion, and Node.js reads the frame, too', (_, raw) => {
  const frame = Buffer.from(zstdCompressed(raw));
  expect(zstdDecompressSync(frame)).toEqual(raw);
  expect(Buffer.from(zstdExpanded(frame, raw.length))).toEqual(raw);
});

test('a frame does not depend on those before it', () => {
  const first = Buffer.from(zstdCompressed(TEXT));
  zstdCompressed(NOISE);
  expect(Buffer.from(zstdCompressed(TEXT))).toEqual(first);
});

test.each([
  ['a frame without its last byte', FRAME.subarray(0, -1), TEXT.length, 'unexpected end of file'],
  ['half a frame', FRAME.subarray(0, FRAME.length >> 1), TEXT.length, 'unexpected end of file'],
  ['no frame', Buffer.from('no frame of zstd'), TEXT.length, 'Unknown frame'],
  ['a frame of more than was said', FRAME, TEXT.length - 1, 'larger than 8399 bytes'],
])('expanding %s throws, and the next frame is expanded', async (_, frame, rawBytes, message) => {
  expect(() => zstdExpanded(frame, rawBytes)).toThrow(message);
  expect(Buffer.from(zstdExpanded(FRAME, TEXT.length))).toEqual(TEXT);
  // Node.js emits an error event a turn later, which would end the process without a listener.
  await new Promise(setImmediate);
});

test('many pages share one native context', () => {
  let made = 0;
  const hook = createHook({ init: (_id, type) => void (type === 'ZLIB' && (made += 1)) }).enable();
  zstdDecompressSync(FRAME);
  const seen = made;
  for (let page = 0; page < 20; page += 1) zstdExpanded(Buffer.from(zstdCompressed(TEXT)), TEXT.length);
  hook.disable();
  expect(seen).toBe(1);
  expect(made - seen).toBeLessThanOrEqual(2);
});
