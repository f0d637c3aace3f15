// Azure's transport on a slow link and a silent one. Time is made to pass; the network is real.
import { afterEach, expect, test, vi } from 'vitest';
import { httpClient } from '../../shared/drivers/azure-tables/table-service.ts';
import { UnderWay } from '../../shared/drivers/common/under-way.ts';
import { SILENCE_MS } from '../../shared/store/contract/driver.ts';
import { type RawRequest, rawServer, replyText } from './raw-server.ts';
import { closedAfterEach } from '../support/opened.ts';

const LONG_MS = 600_000;

const opened = closedAfterEach();

afterEach(() => void vi.useRealTimers());

/** A client that has sent such a request, whose reply the test writes. */
async function asked(method: 'GET' | 'PUT') {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const arrived = Promise.withResolvers<RawRequest>();
  const server = opened(await rawServer(arrived.resolve));
  const client = opened(httpClient(`http://127.0.0.1:${server.port}`));
  const body = method === 'PUT' ? Buffer.from('x') : undefined;
  const replying = client.send({ method, target: '/', headers: [], body }, performance.now() + LONG_MS);
  replying.catch(() => {});
  const { socket } = await arrived.promise;
  /** Writes this piece, and waits until the client has it: to poll for it would let time pass. */
  const write = async (text: string): Promise<void> => {
    const heard = Promise.withResolvers<void>();
    const hear = Reflect.get(UnderWay.prototype, 'heard');
    vi.spyOn(UnderWay.prototype, 'heard').mockImplementationOnce(function (this: UnderWay, sent) {
      hear.call(this, sent);
      heard.resolve();
    });
    socket.write(text);
    await heard.promise;
    vi.restoreAllMocks();
  };
  return { replying, write };
}

test('a read goes on as long as its reply comes, be it slowly', async () => {
  const { replying, write } = await asked('GET');
  const body = 'slowly'.repeat(3);
  const reply = replyText(200, {}, body);
  const head = reply.length - body.length;
  await write(reply.slice(0, head + 1));
  for (const byte of reply.slice(head + 1)) {
    await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
    await write(byte);
  }
  expect(String((await replying).body)).toBe(body);
});

test.each([0, 1])('a read ends when nothing comes any more (after %i bytes)', async (bytes) => {
  const { replying, write } = await asked('GET');
  if (bytes > 0) await write(replyText(200, {}, 'slowly').slice(0, bytes - 'slowly'.length));
  await vi.advanceTimersByTimeAsync(SILENCE_MS);
  await expect(replying).rejects.toMatchObject({ cause: { name: 'DeadlineError' } });
});

test('a write has all its time: nobody sends it again', async () => {
  const { replying, write } = await asked('PUT');
  await vi.advanceTimersByTimeAsync(LONG_MS - 1);
  await write(replyText(200, {}, 'late'));
  expect(String((await replying).body)).toBe('late');
});
