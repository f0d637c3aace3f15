// The page's script, on a document of the few parts that it touches.
import { readFileSync } from 'node:fs';
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

type Listener = (event: { preventDefault(): void; target: Part }) => unknown;

/** Any element: it takes what the script gives it. */
class Part {
  value = '';
  textContent = '';
  disabled = false;
  hidden = true;
  readonly children: unknown[] = [];
  readonly listeners = new Map<string, Listener>();
  readonly tBodies = { 0: this };
  addEventListener(name: string, listener: Listener): void {
    this.listeners.set(name, listener);
  }
  replaceChildren(...parts: unknown[]): void {
    this.children.splice(0, this.children.length, ...parts);
  }
  append(...parts: unknown[]): void {
    this.children.push(...parts);
  }
  insertCell(): Part {
    const cell = new Part();
    this.append(cell);
    return cell;
  }
  setAttribute(): void {}
  querySelector(): Part {
    return new Part();
  }
}

const FORM = { appKey: 'k', hostKey: '', workload: 'load', concurrencies: '1, 8', durationMs: '1000' };

const RESULT = {
  provider: 'datastore',
  layout: 'record',
  concurrency: 1,
  records: 1_000,
  durationMs: 1_000,
  operations: 19,
  p50Ms: null,
  p95Ms: null,
  p99Ms: null,
  errors: {},
  processorWait: 0.1,
};

type Answer = (target: string, init: RequestInit) => Response | Promise<Response>;

function openPage(answer: Answer) {
  const parts = new Map<string, Part>();
  const part = (id: string): Part => parts.get(id) ?? parts.set(id, new Part()).get(id)!;
  for (const [id, value] of Object.entries(FORM)) part(id).value = value;
  const document = {
    getElementById: part,
    querySelector: part,
    createElement: () => new Part(),
    createElementNS: () => new Part(),
  };
  const sent: string[] = [];
  const fetch = async (target: string, init: RequestInit): Promise<Response> => {
    const { dataset } = JSON.parse((init.body as string | undefined) ?? '{}') as { dataset?: string };
    sent.push(`${init.method} ${dataset ?? target.split('/').at(-1)!}`);
    return await answer(target, init);
  };
  const html = readFileSync(new URL('../../../functions/compare/page.html', import.meta.url), 'utf8');
  const script = /<script>([^]*?)<\/script>/.exec(html)![1]!;
  runInNewContext(script, { document, fetch, AbortController, AbortSignal, Error });
  const submit = () => part('plan').listeners.get('submit')!({ preventDefault: () => {}, target: part('plan') });
  return { part, sent, submit };
}

const succeed: Answer = (_target, { method }) =>
  method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json(RESULT);

test('runs its cells, then removes the datasets they made, and shows no percentile of too few operations', async () => {
  const page = openPage(succeed);
  await page.submit();
  const made = page.sent.filter((line) => line.startsWith('POST')).map((line) => line.replace('POST', 'DELETE'));
  expect(made).toHaveLength(6);
  expect(page.sent.slice(6)).toEqual(made);
  expect(page.part('status').textContent).toBe('Done: datastore, load. What it made is removed.');
  const [row] = page.part('table').children as Part[];
  expect(row!.children.map((cell) => (cell as Part).textContent).slice(3, 7)).toEqual(['19', '–', '–', '–']);
});

test('gives up its request when it is cancelled, and removes what was made until then', async () => {
  const page = openPage((target, init) =>
    init.method === 'DELETE'
      ? succeed(target, init)
      : new Promise((_resolve, reject) => init.signal!.addEventListener('abort', () => reject(init.signal!.reason))),
  );
  const running = page.submit();
  await yieldToEvents();
  expect(page.part('cancel').disabled).toBe(false);
  page.part('cancel').listeners.get('click')!({ preventDefault: () => {}, target: page.part('cancel') });
  await running;
  expect(page.sent).toEqual([page.sent[0], page.sent[0]!.replace('POST', 'DELETE')]);
  expect(page.part('status').textContent).toBe('Stopped: cancelled. What it made is removed.');
});

test('names what could not be removed', async () => {
  const page = openPage((target, init) =>
    init.method === 'DELETE'
      ? Response.json({ title: 'Unavailable', detail: 'no' }, { status: 503 })
      : succeed(target, init),
  );
  await page.submit();
  expect(page.part('status').textContent).toMatch(/NOT REMOVED, delete it yourself: p\w+record1 \(Unavailable: no\), /);
});
