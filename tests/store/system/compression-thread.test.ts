// The thread beside the store's own: what it returns, and what becomes of those who wait when it cannot.
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import type { Compressed } from '../../../shared/store/contract/runtime.ts';
import { compressHere } from '../../../shared/store/format/compression.ts';
import { CompressionThread } from '../../../shared/store/system/compression-thread.ts';

const THREAD = new URL('../../../shared/store/system/compression-thread.ts', import.meta.url).href;
const COMPRESSION = new URL('../../../shared/store/format/compression.ts', import.meta.url).href;
const PROCESS_TIMEOUT_MS = 25_000;
const threads: CompressionThread[] = [];

afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.close();
});

/** What a process of its own prints. Rejects if it ends with an error or a signal, or goes on for longer than tests may take. */
async function printedBy(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: PROCESS_TIMEOUT_MS });
  return stdout;
}

/** Pages of text, one of which cannot be made smaller. */
function bodies(count: number): Uint8Array[] {
  const texts = Array.from({ length: count - 1 }, (_, page) =>
    Buffer.from(`page ${page}, again and again. `.repeat(300)),
  );
  return [...texts, Buffer.from('x')];
}

/** A thread that has started. */
async function running(): Promise<CompressionThread> {
  const thread = new CompressionThread();
  threads.push(thread);
  let answer = thread.compress(bodies(64), 'zstd');
  for (; !(answer instanceof Promise); answer = thread.compress(bodies(64), 'zstd')) await delay(5);
  await answer;
  return thread;
}

test.each(['zstd', 'deflate'] as const)(
  '%s: pages come back as they would be compressed on the spot',
  async (method) => {
    const thread = await running();
    const raw = bodies(80);
    const answer = thread.compress(raw, method);
    expect(answer).toBeInstanceOf(Promise);
    expect(plain((await answer)!)).toEqual(plain(compressHere(raw, method)));
    expect(raw).toEqual(bodies(80));
  },
);

function plain(pages: readonly Compressed[]): unknown[] {
  return pages.map(({ tag, bytes }) => ({ tag, bytes: Buffer.from(bytes).toString('hex') }));
}

test('the first large commit does not wait for the thread to start, few pages never do', async () => {
  const thread = new CompressionThread();
  threads.push(thread);
  expect(thread.compress(bodies(64), 'zstd')).toEqual(compressHere(bodies(64), 'zstd'));
  const started = await running();
  expect(started.compress(bodies(63), 'zstd')).toEqual(compressHere(bodies(63), 'zstd'));
  expect(started.compress(bodies(64), 'none')).toEqual(compressHere(bodies(64), 'none'));
});

test('a backlog is worked off on the spot', async () => {
  const thread = await running();
  const answers = Array.from({ length: 30 }, () => thread.compress(bodies(64), 'zstd'));
  expect(answers.some((answer) => answer instanceof Promise)).toBe(true);
  expect(answers.some((answer) => !(answer instanceof Promise))).toBe(true);
  for (const answer of answers) expect(await answer).toHaveLength(64);
});

test('closing ends what is under way without an answer; afterwards pages are compressed on the spot', async () => {
  const thread = await running();
  const answer = thread.compress(bodies(200), 'zstd');
  await thread.close();
  expect(await answer).toBeUndefined();
  expect(thread.compress(bodies(64), 'zstd')).toEqual(compressHere(bodies(64), 'zstd'));
  await thread.close();
});

test('a process survives threads that are closed while they compress', async () => {
  // Small pages, so that the thread makes streams most of the time: if it is stopped in that, the process aborts; once in 25 to 40 times it is.
  const script = `
    import { setTimeout as delay } from 'node:timers/promises';
    import { CompressionThread } from '${THREAD}';
    const pages = Array.from({ length: 1_500 }, () => new Uint8Array(200));
    async function closeAtWork() {
      const thread = new CompressionThread();
      while (!(thread.compress(pages, 'zstd') instanceof Promise)) await delay(2);
      await delay(Math.random() * 4);
      await thread.close();
    }
    const untilMs = performance.now() + 5_000;
    for (let round = 0; round < 25 && performance.now() < untilMs; round += 1)
      await Promise.all([closeAtWork(), closeAtWork(), closeAtWork(), closeAtWork()]);
    console.log('alive');
  `;
  expect(await printedBy(['--input-type=module', '-e', script])).toBe('alive\n');
});

test('neither closing nor the process waits for a thread that hangs', async () => {
  // Brotli, as it is by default, takes minutes for these pages.
  const script = `
    import { randomFillSync } from 'node:crypto';
    import { setTimeout as delay } from 'node:timers/promises';
    import { METHODS } from '${COMPRESSION}';
    import { CompressionThread } from '${THREAD}';
    const thread = new CompressionThread();
    const few = Array.from({ length: 64 }, () => new Uint8Array(200));
    while (!(thread.compress(few, 'zstd') instanceof Promise)) await delay(2);
    METHODS.zstd = { name: 'brotliCompressSync', options: {} };
    const answer = thread.compress(Array.from({ length: 10_000 }, () => randomFillSync(new Uint8Array(8_000))), 'zstd');
    await thread.close();
    console.log(await answer);
  `;
  expect(await printedBy(['--input-type=module', '-e', script])).toBe('undefined\n');
});

test('a process that may not have threads does without', async () => {
  const script = `
    import { CompressionThread } from '${THREAD}';
    const thread = new CompressionThread();
    const pages = Array.from({ length: 64 }, () => new Uint8Array(8000));
    for (let count = 0; count < 3; count += 1) console.log(thread.compress(pages, 'zstd').length);
    await thread.close();
  `;
  const args = ['--permission', '--allow-fs-read=*', '--input-type=module', '-e', script];
  expect(await printedBy(args)).toBe('64\n64\n64\n');
});

test('the thread keeps its process alive while somebody waits for it, and no longer', async () => {
  const script = `
    import { CompressionThread } from '${THREAD}';
    const thread = new CompressionThread();
    const pages = Array.from({ length: 64 }, () => new Uint8Array(8000));
    let answer = thread.compress(pages, 'zstd');
    while (!(answer instanceof Promise)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      answer = thread.compress(pages, 'zstd');
    }
    console.log((await answer).length);
  `;
  expect(await printedBy(['--input-type=module', '-e', script])).toBe('64\n');
});
