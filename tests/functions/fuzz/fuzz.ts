// `npm run fuzz -- --requests 20000 --seed 1`: sends fuzzed requests to the apps on a store in
// memory, one after the other, judges and counts their answers, and prints the wrong ones.
import { parseArgs } from 'node:util';
import { unpack } from 'msgpackr';
import type { App } from '../../../functions/http/http-app.ts';
import type { LogLine } from '../../../functions/http/log.ts';
import { type ProblemBody, PROBLEMS } from '../../../functions/http/problem.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { CellResult } from '../../../shared/lab/load/cell.ts';
import { openStore } from '../../../shared/store/index.ts';
import { appsOn } from '../apps.ts';
import { chanceOf } from './fuzz-chance.ts';
import { type FuzzRequest, requestOf, type Seen } from './random-requests.ts';

/** A request that was answered. */
export interface Answered {
  readonly request: FuzzRequest;
  readonly status: number;
  readonly code: string | undefined;
  /** Faults of the answer. */
  readonly faults: readonly string[];
}

export interface FuzzOptions {
  readonly seed: number;
  readonly requests: number;
}

/** Cells of which only the part before them is of interest. */
const result = {} as CellResult;

const NDJSON = 'application/x-ndjson';

const ANSWER_BYTES_MAX = 32_000_000;

/** The only 5xx that a store in memory may lead to. */
const EXPECTED_5XX = new Set(['aborted', 'unavailable']);

export async function* fuzzed({ seed, requests }: FuzzOptions): AsyncGenerator<Answered, void> {
  const chance = chanceOf(seed);
  const seen: Seen = { cursors: [], tags: [] };
  const lines: LogLine[] = [];
  const store = openStore({ driver: memoryDriver() });
  const log = (line: LogLine): void => void lines.push(line);
  const apps = appsOn({ log, page: Buffer.from('<script>1</script>'), runCell: async () => result }, store);
  await store.table('hashed');
  await store.table('sorted', { order: 'key' });
  try {
    for (let count = 0; count < requests; count += 1) {
      const request = requestOf(chance, seen);
      lines.length = 0;
      const answer = await answered(apps[request.app], request, seen);
      const faults = lines.length === 1 ? answer.faults : [...answer.faults, `${lines.length} lines were logged`];
      yield { ...answer, faults };
    }
  } finally {
    await store.close();
  }
}

async function answered(app: App, request: FuzzRequest, seen: Seen): Promise<Answered> {
  const { method, target, headers, body } = request;
  const sent = new Request(`http://localhost${target}`, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    ...(body === undefined ? {} : { body }),
  });
  const response = await app.fetch(sent, { target });
  const answer = Buffer.from(await response.arrayBuffer());
  return { request, status: response.status, ...(await judged(request, response, answer, seen)) };
}

async function judged({ method }: FuzzRequest, response: Response, answer: Buffer, seen: Seen) {
  const { status, headers } = response;
  const faults: string[] = [];
  const type = headers.get('Content-Type') ?? '';
  if (answer.length > ANSWER_BYTES_MAX) faults.push(`the answer has ${answer.length} bytes`);
  if (!headers.has('X-Request-Id') && status !== 204) faults.push('the answer has no request id');
  if (status >= 400 && type !== 'application/problem+json') faults.push(`${status} comes as ${type}`);
  const value = method === 'HEAD' || answer.length === 0 ? undefined : await decoded(response, answer, faults);
  remember(seen, headers.get('ETag'), value);
  const code = status < 400 ? undefined : (value as ProblemBody | undefined)?.code;
  if (code !== undefined && PROBLEMS[code].status !== status) faults.push(`${code} comes as ${status}`);
  if (status >= 500 && code !== undefined && !EXPECTED_5XX.has(code)) faults.push(`${code} is not expected`);
  return { code, faults };
}

/** The answer's value; undefined for types that have none. */
async function decoded({ headers }: Response, answer: Buffer, faults: string[]): Promise<unknown> {
  const isGzip = headers.get('Content-Encoding') === 'gzip';
  const type = headers.get('Content-Type') ?? '';
  try {
    const plain = isGzip ? await inflated(answer) : answer;
    if (type.endsWith('json') && type !== NDJSON) return JSON.parse(plain.toString());
    if (type === 'application/vnd.msgpack') return unpack(plain);
    for (const line of type === NDJSON ? plain.toString().trimEnd().split('\n') : []) JSON.parse(line);
  } catch (error) {
    faults.push(`the answer is no ${type}: ${String(error)}`);
  }
  return undefined;
}

async function inflated(answer: Buffer): Promise<Buffer> {
  const plain = new Response(answer as Uint8Array<ArrayBuffer>).body!.pipeThrough(new DecompressionStream('gzip'));
  return Buffer.from(await new Response(plain).arrayBuffer());
}

const REMEMBERED_MAX = 50;

function remember({ cursors, tags }: Seen, tag: string | null, value: unknown): void {
  const cursor = typeof value === 'object' && value !== null && 'cursor' in value ? value.cursor : undefined;
  if (typeof cursor === 'string') cursors.push(cursor);
  if (tag !== null) tags.push(tag);
  for (const list of [cursors, tags]) if (list.length > REMEMBERED_MAX) list.shift();
}

if (import.meta.main) await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
  });
  const SHOWN_MAX = 15;

  const answers = new Map<string, number>();
  let wrong = 0;
  for await (const { request, status, code, faults } of fuzzed({
    seed: Number(values.seed),
    requests: Number(values.requests),
  })) {
    const answer = `${status} ${code ?? ''}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    if (faults.length === 0) continue;
    wrong += 1;
    const { method, target, headers, body } = request;
    const sent = headers.map(([name, value]) => `${name}: ${value.slice(0, 40)}`).join(', ');
    if (wrong <= SHOWN_MAX)
      process.stdout.write(
        `wrong: ${faults.join('; ')}: ${method} ${target.slice(0, 80)} [${sent}] ${body?.length ?? 0} bytes: ${answer}\n`,
      );
  }
  for (const [answer, count] of [...answers].sort((a, b) => b[1] - a[1])) process.stdout.write(`${count}\t${answer}\n`);
  process.stdout.write(`${wrong} wrong\n`);
  process.exitCode = wrong > 0 ? 1 : 0;
}
