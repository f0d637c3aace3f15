// Requests as chance has them: every route, every form of body, query and header, well-formed or
// nearly so. Bodies made to be expensive are in ../records/attacks.test.ts.
import { gzipSync } from 'node:zlib';
import { Packr } from 'msgpackr';
import { type Chance, jsonOf, mutated } from './fuzz-chance.ts';

/** A request, and which app it is for. */
export interface FuzzRequest {
  readonly app: 'records' | 'compare' | 'vacuum';
  readonly method: string;
  /** The target as it is sent. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer<ArrayBuffer> | undefined;
}

/** Cursors and entity tags of earlier answers. */
export interface Seen {
  readonly cursors: string[];
  readonly tags: string[];
}

const packr = new Packr({ useRecords: false });

const TARGETS = [
  'GET health, GET ready, GET tables, PUT tables/T, GET tables/T, DELETE tables/gone?confirm=gone',
  'PUT tables/T/records/K, GET tables/T/records/K, HEAD tables/T/records/K, DELETE tables/T/records/K',
  'POST tables/T/records/K?increment=1, POST tables/T/records/K, POST tables/T/records, DELETE tables/T/records?Q',
  'GET tables/T/records?Q, POST tables/T/batch, POST tables/T/batch, POST compare/cells, POST compare/datasets',
  'DELETE compare/datasets/K, POST compare/doctor, GET compare/place, GET compare, POST vacuum?quietMs=0&Q',
].flatMap((line) => line.split(', '));
const TABLES = ['hashed', 'sorted', 'sorted', 'absent', 'T!', 'x'.repeat(5_000), '%00', '%ff'];
const KEYS = ['a', 'b', 'c', 'k%2Fl', '%F0%9F%98%80', '%', '..', 'x'.repeat(1_025), '%00', 'é'];
const QUERIES = ' limit=10 limit=0 prefix=a from=a&to=c cursor=C limit=1&cursor=C x=1 quietMs=0'.split(' ');
const ODD_QUERIES = [
  'a=1&'.repeat(2_000),
  `prefix=${'%61'.repeat(3_000)}`,
  `cursor=${'A'.repeat(8_000)}`,
  '&&=&',
  'limit=',
];

const TYPES = ['application/json', 'application/vnd.msgpack', 'application/msgpack', 'application/octet-stream'];
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  Accept: [...TYPES, 'application/x-ndjson', '*/*', 'text/html', 'application/json;q=2', 'a/b,'.repeat(3_000), ',;=q'],
  'Accept-Encoding': [
    'gzip',
    'gzip, br',
    'identity',
    '*',
    'gzip;q=0',
    'gzip;q=0.'.padEnd(8_000, '0'),
    ' '.repeat(9_000),
  ],
  'Cache-Control': ['max-age=5', 'no-cache', 'max-age=99999999999', 'max-age=1,'.repeat(1_000)],
  'If-Match': ['*', 'E', 'W/"x"', '"'.repeat(8_000), '"a",'.repeat(3_000), ' '.repeat(9_000), `${' ,'.repeat(4_000)}x`],
  'If-None-Match': ['*', 'E', '"a"', ','.repeat(9_000), 'x'],
  'Stowage-Timeout-Ms': ['1', '5000', '0', '99999999999', 'x'],
  'Stowage-Ttl-Ms': ['1000', '0', '1e3'],
  'Stowage-Else': ['1'],
  'X-Request-Id': ['id', 'x'.repeat(9_000), '"'],
  traceparent: [
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    `01-${'0'.repeat(9_000)}`,
    '-'.repeat(9_000),
  ],
  'Content-Range': ['bytes 0-1/2'],
  'Content-Encoding': ['gzip', 'identity', 'br', 'gzip, gzip'],
  'Content-Type': [
    ...TYPES,
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-ndjson',
    `a/b;${' '.repeat(9_000)}`,
    ';'.repeat(9_000),
  ],
};

export function requestOf(chance: Chance, seen: Seen): FuzzRequest {
  const [ownMethod = '', route = ''] = chance.pick(TARGETS).split(' ');
  const [app = 'records'] = (['compare', 'vacuum'] as const).filter((name) => route.startsWith(name));
  const path = `/v1/${route}`;
  const method =
    chance.below(20) === 0 ? chance.pick(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS']) : ownMethod;
  const target = path
    .replace('/T', `/${rarelyOdd(chance, TABLES, 4)}`)
    .replace('/K', `/${rarelyOdd(chance, KEYS, 3)}`)
    .replace('Q', chance.below(8) === 0 ? chance.pick(ODD_QUERIES) : chance.pick(QUERIES))
    .replace('cursor=C', () => `cursor=${cursorOf(chance, seen)}`);
  const headers = Object.entries(HEADERS).flatMap(([name, values]): [string, string][] =>
    chance.below(20) === 0 ? [[name, chance.pick(values).replace(/^E$/, chance.pick([...seen.tags, '"e"']))]] : [],
  );
  if (method === 'GET' || method === 'HEAD') return { app, method, target, headers, body: undefined };
  const isPacked = chance.below(2) === 0;
  const plain = bodyOf(chance, path, isPacked);
  const isGzip = chance.below(2) === 0;
  const type = isPacked ? 'application/vnd.msgpack' : 'application/json';
  const own = { 'Content-Type': type, ...(isGzip ? { 'Content-Encoding': 'gzip' } : {}) };
  const rest = Object.entries(own).filter(([name]) => !headers.some(([other]) => other === name));
  return { app, method, target, headers: [...headers, ...rest], body: isGzip ? gzipped(plain, chance) : plain };
}

/** Mostly of the first `usual` ones. */
function rarelyOdd(chance: Chance, list: readonly string[], usual: number): string {
  return chance.below(5) === 0 ? chance.pick(list) : list[chance.below(usual)]!;
}

function cursorOf(chance: Chance, { cursors }: Seen): string {
  const cursor = Buffer.from(chance.pick([...cursors, 'AQAB']));
  return encodeURIComponent((chance.below(2) === 0 ? cursor : mutated(cursor, chance)).toString('latin1'));
}

function gzipped(plain: Buffer, chance: Chance): Buffer<ArrayBuffer> {
  const packed = gzipSync(plain, { level: 1 });
  return chance.below(20) === 0 ? mutated(packed, chance) : packed;
}

function bodyOf(chance: Chance, path: string, isPacked: boolean): Buffer<ArrayBuffer> {
  const json = path.endsWith('/batch') ? batchOf(chance) : path.endsWith('/K') ? jsonOf(chance) : optionsOf(chance);
  const bytes = isPacked && json !== '' ? Buffer.from(packr.pack(parsed(json))) : Buffer.from(json);
  return chance.below(3) === 0 ? mutated(bytes, chance) : bytes;
}

function parsed(json: string): unknown {
  return JSON.parse(json.replaceAll('1e400', '1e300'));
}

function optionsOf(chance: Chance): string {
  const dataset = '"dataset":"fuzz","layout":"container"';
  const known = ['', '{}', '{"order":"key"}', '{"containers":2}', `{${dataset},"records":1}`, `{${dataset}}`];
  return chance.pick([...known, jsonOf(chance)]);
}

function batchOf(chance: Chance): string {
  const key = (): string => JSON.stringify(chance.pick(['a', 'b', 'c', '', 'é', '\u0001'.repeat(900)]));
  const operations = Array.from({ length: 1 + chance.below(chance.below(10) === 0 ? 1_100 : 6) }, () =>
    chance.pick([
      () => `{"op":"put","key":${key()},"value":${jsonOf(chance)}}`,
      () => `{"op":"get","key":${key()}}`,
      () => `{"op":"delete","key":${key()}}`,
      () =>
        `{"op":"put","data":"AAAA","contentType":"${chance.pick(TYPES)}","key":${key()},"ttlMs":${chance.below(9)}}`,
      () => `{"op":"put","key":${key()},"value":1,"${chance.pick(['x', 'ifVersion', 'ifAbsent'])}":${jsonOf(chance)}}`,
    ])(),
  );
  return `{"operations":[${operations.join(',')}]}`;
}
