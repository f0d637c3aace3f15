// JSON merge patch: the RFC's own table, and values that decoding would round.
import { expect, test } from 'vitest';
import { mergePatch } from '../../../functions/http/merge-patch.ts';
import { chanceOf, jsonOf } from '../fuzz/fuzz-chance.ts';

function merged(target: string, patch: string): string {
  return Buffer.from(mergePatch(Buffer.from(patch))(Buffer.from(target))).toString();
}

// RFC 7396, appendix A.
test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
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

test.each([
  ['{"a":1,"a":2}', '{"b":1}'],
  ['{"b":1}', '{"a":1,"a":2}'],
])('a name that stands twice is refused: %s patched by %s', (target, patch) => {
  expect(() => merged(target, patch)).toThrow('stands twice');
});

test("the merge agrees with the RFC's pseudocode on random values", () => {
  const chance = chanceOf(7);
  for (let round = 0; round < 2_000; round += 1) {
    const [target, patch] = [finite(jsonOf(chance)), finite(jsonOf(chance))];
    expect(JSON.parse(merged(target, patch))).toEqual(reference(JSON.parse(target), JSON.parse(patch)));
  }
});

/** Each name once, and no number beyond a double. */
function finite(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

function reference(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, reference(result.get(name), value));
  }
  return Object.fromEntries(result);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
