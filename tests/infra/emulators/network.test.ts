// The emulators behind a network. Where an order is tested, a gate says when requests pass.
import { once } from 'node:events';
import http from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Network as FrontNetwork, placeFront, type Sent } from '../../../infra/emulators/azurite-front/front.ts';
import { startDatastoreEmulator } from '../../../infra/emulators/datastore/index.ts';
import { networkOf, slowCloud } from '../../../infra/emulators/emulated-network.ts';
import { listening } from '../../support/listening.ts';
import { CODE, contentOf, insert, key, remove, serviceAt, update } from './datastore/protocol-service.ts';

test('an emulator takes the time of its network', async () => {
  const emulator = await startDatastoreEmulator({ network: slowCloud(networkOf('200ms').profiles.datastore) });
  const service = serviceAt(`http://${emulator.address}`);
  onTestFinished(async () => {
    await service.close();
    await emulator.close();
  });
  const sentMs = performance.now();
  await service.commit([insert(key('K', 'a'))]);
  // A draw of half the median is rarer than any run.
  expect(performance.now() - sentMs).toBeGreaterThanOrEqual(100);
});

/** A network that lets each request pass, and each answer, when the test says so. */
class Gate implements FrontNetwork {
  readonly sent: Omit<Sent, 'partition'>[] = [];
  readonly #steps: { readonly step: string; readonly pass: () => void }[] = [];
  /** Waits that the caller's leaving or the server's end has ended. */
  aborted = 0;
  /** What becomes of the requests. */
  outcome: { isThrottled?: boolean; refusal?: unknown; isReplyLost?: boolean } = {};

  async arrive(sent: Omit<Sent, 'partition'>, signal: AbortSignal) {
    this.sent.push(sent);
    await this.#waitFor('arrive', signal);
    return {
      isThrottled: false,
      ...(this.outcome as object),
      reply: (_bytes: number, gone: AbortSignal) => this.#waitFor('reply', gone),
    };
  }

  async #waitFor(step: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((pass) => {
      const waiting = { step, pass };
      this.#steps.push(waiting);
      signal.addEventListener('abort', () => {
        if (!this.#steps.includes(waiting)) return;
        this.#steps.splice(this.#steps.indexOf(waiting), 1);
        this.aborted += 1;
        pass();
      });
    });
  }

  get waiting(): string[] {
    return this.#steps.map(({ step }) => step);
  }

  /** Lets the one pass that has waited longest. */
  async open(step: string): Promise<void> {
    await vi.waitUntil(() => this.waiting.includes(step), { timeout: 60_000, interval: 5 });
    const [one] = this.#steps.splice(this.waiting.indexOf(step), 1);
    one!.pass();
  }
}

async function gatedDatastore() {
  const gate = new Gate();
  const emulator = await startDatastoreEmulator({ network: gate });
  const service = serviceAt(`http://${emulator.address}`);
  onTestFinished(async () => {
    await service.close();
    await emulator.close();
  });
  const through = async <T>(call: Promise<T>): Promise<T> => {
    await gate.open('arrive');
    await gate.open('reply');
    return await call;
  };
  return { gate, emulator, service, through };
}

test('a call of Datastore’s emulator says what it asks for', async () => {
  const { gate, service, through } = await gatedDatastore();
  await through(service.commit([insert(key('K', 'a')), insert(key('K', 'b'))]));
  await through(service.commit([update(key('K', 'a')), remove(key('K', 'b'))]));
  await through(service.lookup([key('K', 'a'), key('K', 'b')]));
  await through(service.query({ kind: [{ name: 'K' }] }));
  await expect(through(service.commit([{}]))).rejects.toMatchObject({ code: CODE.invalid });
  expect(gate.sent.map(({ kind, ids }) => [kind, ids.length])).toEqual([
    ['commit', 2],
    ['commit', 2],
    ['read', 2],
    ['query', 0],
    ['commit', 0],
  ]);
  const [inserted, changed, read] = gate.sent.map(({ ids }) => ids);
  expect([changed, read]).toEqual([inserted, inserted]);
  expect(new Set(inserted).size).toBe(2);
});

test('a commit has its effect before its answer, and others see it', async () => {
  const { gate, service, through } = await gatedDatastore();
  const committed = service.commit([insert(key('K', 'a'))]);
  await gate.open('arrive');
  await expect.poll(() => gate.waiting).toEqual(['reply']);
  const seeing = contentOf(service, key('K', 'a'));
  await gate.open('arrive');
  await gate.open('reply');
  await gate.open('reply');
  expect(await seeing).toEqual({});
  await committed;
  expect(await through(contentOf(service, key('K', 'b')))).toBeUndefined();
});

test.each([
  ['is throttled is RESOURCE_EXHAUSTED, and changes nothing', { isThrottled: true }, CODE.exhausted, undefined],
  [
    'is refused has the code that the network says, and changes nothing',
    { refusal: 'ABORTED' },
    CODE.aborted,
    undefined,
  ],
  ['loses its reply is UNAVAILABLE, and has its effect', { isReplyLost: true }, CODE.unavailable, {}],
])('a call that %s', async (_, outcome, code, content) => {
  const { gate, service, through } = await gatedDatastore();
  gate.outcome = outcome;
  await expect(through(service.commit([insert(key('K', 'a'))]))).rejects.toMatchObject({ code });
  gate.outcome = {};
  expect(await through(contentOf(service, key('K', 'a')))).toEqual(content);
});

test('a caller who leaves before the effect takes the call back; the end of the server does too', async () => {
  const { gate, emulator, service, through } = await gatedDatastore();
  const left = service.client.commit(
    { projectId: 'suite', mutations: [insert(key('K', 'a'))], mode: 'NON_TRANSACTIONAL' },
    { timeout: 100, retry: null },
  );
  await expect(left).rejects.toThrow('DEADLINE_EXCEEDED');
  await expect.poll(() => gate.aborted).toBe(1);
  expect(await through(contentOf(service, key('K', 'a')))).toBeUndefined();
  const cut = service.lookup([key('K', 'a')]);
  await expect.poll(() => gate.waiting).toEqual(['arrive']);
  await emulator.close();
  await expect(cut).rejects.toThrow(/CANCELLED|UNAVAILABLE/);
  await expect.poll(() => gate.aborted).toBe(2);
});

/** The front before a server that counts what reaches it. */
async function gatedFront() {
  const gate = new Gate();
  const served: string[] = [];
  const server = http.createServer((request, response) => {
    served.push(request.url!);
    response.writeHead(201, { etag: 'x' });
    response.write('served ');
    response.end('in parts');
  });
  placeFront({ server, presentOf: () => ({}), network: gate });
  const port = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const put = (rowKey: string, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}/account/table(PartitionKey='p',RowKey='${rowKey}')`, {
      method: 'PUT',
      body: '{}',
      ...(signal && { signal }),
    });
  return { gate, served, server, put };
}

test('an answer is kept back whole, and meanwhile other writes of its partition have their effects', async () => {
  const { gate, served, put } = await gatedFront();
  const first = put('a');
  await gate.open('arrive');
  await expect.poll(() => served).toHaveLength(1);
  const second = put('b');
  await gate.open('arrive');
  await expect.poll(() => served).toHaveLength(2);
  await gate.open('reply');
  await gate.open('reply');
  for (const answer of [await first, await second]) {
    expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([201, 'x', 'served in parts']);
  }
});

test.each([
  ['throttled', { isThrottled: true }, 503, 'ServerBusy'],
  ['refused', { refusal: { status: 403, code: 'AuthorizationFailure' } }, 403, 'AuthorizationFailure'],
])('a request that is %s gets its answer after a round trip, and reaches nobody', async (_, outcome, status, code) => {
  const { gate, served, put } = await gatedFront();
  gate.outcome = outcome;
  const answering = put('a');
  await gate.open('arrive');
  await gate.open('reply');
  const answer = await answering;
  expect([answer.status, answer.headers.get('x-ms-error-code'), served]).toEqual([status, code, []]);
});

test('a caller who leaves before the effect takes the request back; the end of the server does too', async () => {
  const { gate, served, server, put } = await gatedFront();
  const leaving = new AbortController();
  const left = put('a', leaving.signal);
  await expect.poll(() => gate.sent.length).toBe(1);
  leaving.abort();
  await expect(left).rejects.toThrow('aborted');
  await expect.poll(() => gate.aborted).toBe(1);
  const cut = put('b');
  await expect.poll(() => gate.sent.length).toBe(2);
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await expect(cut).rejects.toThrow('fetch failed');
  await closed;
  await expect.poll(() => gate.aborted).toBe(2);
  expect(served).toEqual([]);
});
