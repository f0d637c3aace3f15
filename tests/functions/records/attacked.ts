// A process of little memory in which an app meets the bodies that once ended a large one. It
// prints what each is answered, as JSON.
import { gzipSync } from 'node:zlib';
import { createRecordsApp } from '../../../functions/records/records-app.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';

const BYTES = 16 * 1024 * 1024;
const JSON_TYPE = 'application/json';
const MSGPACK = 'application/vnd.msgpack';
const KEY = 'reader-key-0000000000';

/** The parts, between which the last one fills what is left of a body. */
function filled(head: string, one: string, tail = ''): Buffer {
  const [start, filling, end] = [head, one, tail].map((part) => Buffer.from(part, 'latin1'));
  const count = Math.floor((BYTES - start!.length - end!.length) / filling!.length);
  return Buffer.concat([start!, Buffer.alloc(count * filling!.length, filling), end!]);
}

const MILLIONS = '\xdd\x00\xff\x00\x00';
const PUT = '\x81\xaaoperations\x91\x83\xa2op\xa3put\xa3key\xa1k\xa5value';

const attacks: [what: string, contentType: string, body: Buffer][] = [
  ['maps in an unknown member', MSGPACK, filled(`\x81\xa1x${MILLIONS}`, '\x80')],
  ['maps in a value', MSGPACK, filled(PUT + MILLIONS, '\x80')],
  ['levels in a value', JSON_TYPE, filled('{"operations":[{"op":"put","key":"k","value":', '[')],
  ['objects in a value', JSON_TYPE, filled('{"operations":[{"op":"put","key":"k","value":[', '{},', '{}]}]}')],
  ['a key', JSON_TYPE, filled('{"operations":[{"op":"get","key":"', '\\u0001', '"}]}')],
];

const store = openStore({ driver: memoryDriver() });
await store.table('t');
const app = createRecordsApp({
  auth: { mode: 'keys', keys: { read: [KEY], write: [], admin: [], compare: [] } },
  timeoutMs: 60_000,
  timeoutMaxMs: 60_000,
  store: async () => store,
  log: () => {},
});

const answers: Record<string, string> = {};
for (const [what, contentType, body] of attacks) {
  const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': contentType, 'Content-Encoding': 'gzip' };
  const init = { method: 'POST', headers, body: gzipSync(body, { level: 1 }) };
  const response = await app.fetch(new Request('http://localhost/v1/tables/t/batch', init));
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  answers[what] = `${response.status} ${code}: ${detail.slice(0, 60)}`;
}
answers['health'] = String((await app.fetch(new Request('http://localhost/v1/health'))).status);
process.stdout.write(JSON.stringify(answers));
