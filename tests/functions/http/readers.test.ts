// The readers of JSON and MessagePack: what they take, and where they stop. JSON merge patch.
import { expect, test } from 'vitest';
import { VALUES_MAX } from '../../../functions/http/body-reader.ts';
import { encodedValue, parseJson } from '../../../functions/http/content.ts';
import { JsonReader } from '../../../functions/http/json-reader.ts';
import { mergePatch } from '../../../functions/http/merge-patch.ts';
import { MsgpackReader } from '../../../functions/http/msgpack-content.ts';
import { batchIn } from '../../../functions/records/batch-body.ts';
import { chanceOf, jsonOf, mutated } from '../fuzz/fuzz-chance.ts';
import { JSON_TYPE, MSGPACK, nested } from '../suite/http-client.ts';

test('the reader takes what JSON.parse takes, to the byte, and nothing else', () => {
  const chance = chanceOf(1);
  const taken = { yes: 0, no: 0 };
  for (let round = 0; round < 6_000; round += 1) {
    const made = Buffer.from(jsonOf(chance));
    const bytes = chance.below(4) === 0 ? made : mutated(made, chance);
    const expected = attempt(() => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    const text = bytes.toString('latin1');
    expect({ text, found: attempt(() => parseJson(bytes)) }).toEqual({ text, found: expected });
    taken[expected === undefined ? 'no' : 'yes'] += 1;
  }
  expect(Math.min(taken.yes, taken.no)).toBeGreaterThan(900);
});

function attempt(parse: () => unknown): { value: unknown } | undefined {
  try {
    return { value: parse() };
  } catch {
    return undefined;
  }
}

function marked(json: string): Buffer {
  return Buffer.from(`\u{feff}${json}`);
}

test('a byte order mark before JSON is skipped, also before a batch, and is not stored', () => {
  expect(encodedValue('json', marked('[1]'))).toEqual({ codec: 'json', bytes: Buffer.from('[1]') });
  expect(batchIn(marked('{"operations":[{"op":"get","key":"k"}]}'), 'json').operations).toEqual([
    { op: 'get', key: 'k' },
  ]);
  for (const json of ['\u{feff}[1]', '']) expect(() => encodedValue('json', marked(json))).toThrow('not JSON');
});

test('names are read as JSON.parse reads them, with escapes and without', () => {
  const text = String.raw`{"plain é😀": 0, "\"\\\u0041\n\ud83d": 1, "": 2}`;
  const reader = new JsonReader(Buffer.from(text));
  const names: string[] = [];
  reader.members((name) => {
    names.push(name);
    reader.value();
  });
  expect(names).toEqual(Object.keys(JSON.parse(text) as object));
});

// Bytes behind the refused place are neither JSON nor MessagePack: a reader that looked at them
// would say so.
test.each([
  ['json', `${'['.repeat(101)}?`, 'malformed', '100 levels'],
  ['msgpack', `${'\x91'.repeat(101)}\xc1`, 'malformed', '100 levels'],
  ['json', `[${'0,'.repeat(VALUES_MAX)}?`, 'too_large', `${VALUES_MAX} values`],
  ['msgpack', `\xdd\xff\xff\xff\xff${'\x01'.repeat(VALUES_MAX)}\xc1`, 'too_large', `${VALUES_MAX} values`],
] as const)('%#: a reader of %s stops at the level or value too many', (codec, text, code, said) => {
  const bytes = Buffer.from(text, 'latin1');
  const reader = codec === 'json' ? new JsonReader(bytes) : new MsgpackReader(bytes);
  expect(() => reader.value()).toThrow(expect.objectContaining({ code, message: expect.stringContaining(said) }));
});

test.each([
  ['json', `{"operations":[${'{"op":"get","key":"k"},'.repeat(1_000)}?`],
  ['msgpack', `\x81\xaaoperations\xdd\xff\xff\xff\xff${'\x82\xa2op\xa3get\xa3key\xa1k'.repeat(1_000)}\xc1`],
] as const)('a reader of a batch in %s stops at the operation too many', (codec, text) => {
  const refusal = { code: 'invalid', message: 'operations: expected at most 1000 items' };
  expect(() => batchIn(Buffer.from(text, 'latin1'), codec)).toThrow(expect.objectContaining(refusal));
});

test('a reader of an operation stops at the member too many', () => {
  const members = Array.from({ length: 17 }, (_, at) => `"${at}":0`);
  const refusal = { code: 'invalid', message: 'operations.0: an object here has at most 16 members' };
  const body = Buffer.from(`{"operations":[{${members.join(',')}?`);
  expect(() => batchIn(body, 'json')).toThrow(expect.objectContaining(refusal));
});

test.each([
  ['json', Buffer.from(`{"operations":[{"op":"put","key":"k","value":${nested(JSON_TYPE, 100).toString()}}]}`)],
  [
    'msgpack',
    Buffer.from(
      `\x81\xaaoperations\x91\x83\xa2op\xa3put\xa3key\xa1k\xa5value${nested(MSGPACK, 100).toString('latin1')}`,
      'latin1',
    ),
  ],
] as const)('a value in a batch in %s may be nested 100 levels deep by itself', (codec, body) => {
  expect(batchIn(body, codec).operations).toHaveLength(1);
});

function merged(target: string, patch: string): string {
  return Buffer.from(mergePatch(Buffer.from(patch))(Buffer.from(target))).toString();
}

// RFC 7396, appendix A.
test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
])('%s patched by %s is %s', (target, patch, expected) => {
  expect(merged(target, patch)).toBe(expected);
});

test('what nobody names keeps its bytes, and so does what the patch brings', () => {
  const target = '{ "n": 12345678901234567890, "m": { "x": 1e400, "y": 1.0 }, "__proto__": [ 1 ] }';
  expect(merged(target, '{"m":{"y":2.50}}')).toBe(
    '{"n":12345678901234567890,"m":{"x":1e400,"y":2.50},"__proto__":[ 1 ]}',
  );
});
