// The serializers: the documents' own values, ratios to their own baselines, and what is lost.
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { CSV, INSPECT, JSON_TEXT, MSGPACK, MSGPACK_REFERENCES, V8 } from '../../../../infra/lab/experiments/codecs.ts';
import { QUESTIONS, SIX_COLUMNS } from '../../../../infra/lab/experiments/documents.ts';
import { fidelityText, measured, outcomeOf, questionText } from '../../../../infra/lab/experiments/serializers.ts';

const named = (name: string) =>
  QUESTIONS.flatMap(({ rows }) => rows).find(({ published }) => published?.name === name)!.published!;

test('the rows are the document’s: Python’s json and csv make the printed sizes of them', () => {
  // Python's json puts a blank behind each colon and comma. No text of the document has either.
  const json = JSON.stringify(SIX_COLUMNS).replaceAll(/[:,]/g, '$& ');
  const csv = Object.entries(SIX_COLUMNS).map(([key, row]) => `${[key, ...Object.values(row as object)].join(',')}\n`);
  // The document's file begins with a line of column names, which the document leaves out.
  const csvHeaderBytes = 21;
  expect(json).toHaveLength(named('simplejson').bytes!);
  expect(csv.join('').length + csvHeaderBytes).toBe(named('CSV').bytes);
});

test.each(QUESTIONS)('every serializer gives the value back: $title', ({ value, rows }) => {
  const codecs = rows.flatMap(({ measured: codec }) => codec ?? []);
  const losing = codecs.filter((codec) => !isDeepStrictEqual(codec.decode(codec.encode(value)), value));
  expect(losing.map(({ name }) => name)).toEqual([]);
});

test('ratios are to the baseline of their time, of what the document printed', () => {
  const [container, rows, dictionary] = QUESTIONS;
  const now = new Map([
    [JSON_TEXT, { encode: 4, decode: 4, bytes: 800 }],
    [V8, { encode: 1, decode: 3, bytes: 600 }],
    [MSGPACK, { encode: 0.5, decode: 1.5, bytes: 1_234 }],
    [INSPECT, { encode: 16, decode: 1, bytes: 9 }],
  ]);
  expect(questionText(rows!, now)).toMatch(
    /marshal +v8\.serialize +14 ms +173 ms +670,091 +0\.025 x +1 ms +3 ms +600 +0\.50 x/,
  );
  expect(questionText(container!, now)).toMatch(
    /pickle +msgpack \(msgpackr\) +93 ms +133 ms +- +1\.0 x +500 µs +1\.5 ms +1,234 +1\.0 x/,
  );
  // Encoding alone was printed, in a unit that the document does not explain.
  expect(questionText(dictionary!, now)).toMatch(/cjson +JSON +69\.1 +- +- +0\.92 x +4 ms +4 ms +800 +0\.25 x/);
  expect(questionText(dictionary!, now)).toMatch(/pySyck +- +2,956 +- +- +39 x +- +- +- +-$/m);
});

test('what was measured is of each codec, and a codec that loses something is an error', () => {
  const value = { key: { list: [1, 2, 3] } };
  const figures = measured([JSON_TEXT, V8], value, 2);
  expect(figures.get(JSON_TEXT)).toEqual({
    encode: expect.any(Number),
    decode: expect.any(Number),
    bytes: JSON.stringify(value).length,
  });
  for (const { encode, decode } of figures.values()) expect(Math.min(encode, decode)).toBeGreaterThan(0);
  expect(() => measured([JSON_TEXT], { key: new Date(0) }, 1)).toThrow('JSON lost something');
});

test('what comes back is told from what is refused and what is changed', () => {
  const throughJson = [1.5, -0, NaN, 1n, undefined, new Date(0)].map((value) => outcomeOf(JSON_TEXT, value));
  expect(throughJson).toEqual(['same', 'changed', 'changed', 'refused', 'changed', 'changed']);
  expect(outcomeOf(CSV, '007')).toBe('changed');
  const one = {};
  const twice = [V8, MSGPACK, MSGPACK_REFERENCES].map((codec) => outcomeOf(codec, [one, one]));
  expect(twice).toEqual(['same', 'changed', 'same']);
  expect(fidelityText([V8, JSON_TEXT])).toMatch(/v8\.serialize +- +- +14\n +JSON +-0, NaN, .*twice +bigint +6$/);
});
