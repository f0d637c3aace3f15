// Documents A and D: the published inputs, all printed figures, and an honest verdict on fidelity.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { BASELINE as BASELINE_A, rowsOf, sixColumnTable } from '../../../../infra/lab/experiments/documents/a.ts';
import { containerTable } from '../../../../infra/lab/experiments/documents/a-container.ts';
import { findingsOf as findingsOfA } from '../../../../infra/lab/experiments/documents/a-findings.ts';
import * as codecs from '../../../../infra/lab/experiments/documents/codecs/codecs.ts';
import { csv } from '../../../../infra/lab/experiments/documents/codecs/csv.ts';
import { fidelityTable, verdict } from '../../../../infra/lab/experiments/documents/codecs/fidelity.ts';
import { DICTIONARY, EXPERIMENT_D } from '../../../../infra/lab/experiments/documents/d.ts';
import PUBLISHED from '../../../../infra/lab/experiments/documents/published.json' with { type: 'json' };
import { type FigureTable, meanOf, ratioOf } from '../../../../shared/lab/report/chapters/schema.ts';
import { contextAlone, startEmulated } from './emulated.ts';

const { BSON, INSPECT, INSPECT_LINES, JSON_TEXT, MSGPACK, MSGPACK_REFERENCES, sharedStructures, V8 } = codecs;
const { CBOR, JS_YAML, YAML } = codecs;

const CODECS = [MSGPACK, sharedStructures(), MSGPACK_REFERENCES, JSON_TEXT, V8, CBOR, BSON, YAML, JS_YAML];

test.each([...CODECS, csv('rows')])('the rows of then come back the same: $name ($library)', (codec) => {
  const rows = rowsOf(50);
  expect(rows['7']).toEqual({ 0: 'Vorname', 1: 'Nachname', 2: 'Strasse', 3: 12_345, 4: 100.5, 5: null });
  expect(isDeepStrictEqual(codec.decode(codec.encode(rows)), rows)).toBe(true);
});

/** Python's json puts a blank behind each colon and comma. No text of the documents has either. */
function pythonJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[:,]/g, '$& ');
}

/** Python's csv module, a key before its row. */
function csvLines(rows: Record<string, unknown>): string {
  return Object.entries(rows)
    .map(([key, row]) => `${[key, ...Object.values(row as object)].join(',')}\n`)
    .join('');
}

/** The document's file begins with a line of column names, which the document leaves out. */
const CSV_HEADER_BYTES = 21;

test.each([
  { count: 1_000, json: 92_984, csvBytes: 41_954 },
  { count: 10_000, json: 938_985, csvBytes: 428_955 },
])('the rows are those of the document: $json bytes of JSON, $csvBytes of CSV', ({ count, json, csvBytes }) => {
  const rows = rowsOf(count);
  expect(Object.keys(rows)).toHaveLength(count + 1);
  expect(pythonJson(rows)).toHaveLength(json);
  expect(csvLines(rows).length + CSV_HEADER_BYTES).toBe(csvBytes);
  const printed = PUBLISHED.serializers_gae_2008[`rows_${count as 1_000}`];
  expect([printed.simplejson.bytes, printed.csv.bytes]).toEqual([json, csvBytes]);
});

test.each([...CODECS, csv('cell'), INSPECT, INSPECT_LINES])(
  'the dictionary of then comes back: $name ($library)',
  (codec) => {
    expect(isDeepStrictEqual(codec.decode(codec.encode(DICTIONARY)), DICTIONARY)).toBe(true);
  },
);

test('shared structures write the names of columns once for all', () => {
  const named = { first: { firstName: 'Ada' }, second: { firstName: 'Bo' } };
  expect(Buffer.from(sharedStructures().encode(named)).includes('firstName')).toBe(false);
  expect(Buffer.from(MSGPACK.encode(named)).includes('firstName')).toBe(true);
  expect(sharedStructures().encode(rowsOf(50)).length).toBeLessThan(MSGPACK.encode(rowsOf(50)).length);
});

test('fidelity: what comes back is told from what is refused and what is lost', () => {
  expect(verdict(V8, -0)).toBe('same');
  const throughJson = [-0, NaN, 1n, undefined, new Date(0)].map((value) => verdict(JSON_TEXT, value));
  expect(throughJson).toEqual(['0', 'null', 'refused', 'left out', '"1970-01-01T00:00:00.000Z"']);
  expect(verdict(csv('cell'), '007')).toBe('7');
  expect(verdict(BSON, Uint8Array.of(1))).toBe('a Binary');
  const one = {};
  const referenced = [V8, MSGPACK, MSGPACK_REFERENCES].map((codec) => verdict(codec, [one, one]));
  expect(referenced).toEqual(['same', 'two objects', 'same']);
});

test('fidelity: a row for each codec, a cell for each value', () => {
  const { columns, rows } = fidelityTable([V8, JSON_TEXT]);
  expect(rows.map(({ name }) => name)).toEqual(['v8 serialize (Node.js)', 'JSON (Node.js)']);
  for (const { cells } of rows) expect(cells).toHaveLength(columns.length);
  expect(rows[0]!.cells.every((cell) => cell === 'same')).toBe(true);
});

/** Every row has a figure for every column of today. */
function expectMeasured(table: FigureTable, columnIds: readonly string[]): void {
  for (const row of table.rows)
    for (const id of columnIds) expect(meanOf(row.figures[id]), `${row.id}, ${id}`).toEqual(expect.any(Number));
}

test('document A: 1,001 rows, with every figure that was printed but the halved one', async () => {
  const table = await sixColumnTable(contextAlone(), 1_000);
  const { csv: halved, ...printed } = PUBLISHED.serializers_gae_2008.rows_1000;
  const then = (id: string, measure: string) => table.rows.find((row) => row.id === id)?.figures[`then-${measure}`];
  for (const [id, figures] of Object.entries(printed))
    for (const [measure, value] of Object.entries(figures)) expect(then(id, measure)).toEqual({ runs: [value] });
  expect(then('csv', 'decode')).toEqual({ runs: [2 * halved.decode] });
  expect(then('csv', 'total')).toEqual({ runs: [halved.encode + 2 * halved.decode] });
  expect(table.rows.find(({ id }) => id === 'csv')!.marks![0]).toContain('printed: 4.4 ms to decode, half of the true');
  expectMeasured(table, ['now-encode', 'now-decode', 'now-total', 'now-bytes']);
  expect(ratioOf(table, BASELINE_A, 'then-total')).toBe(1);
  expect(table.rows[0]!.figures['now-encode']).toMatchObject({ runs: { length: 2 } });
});

describe('document A: its container', async () => {
  const emulated = await startEmulated();
  afterAll(() => emulated.close());

  test('whole, on both emulators', async () => {
    const table = await containerTable(emulated.context(), 2);
    expect(table.rows.map(({ figures }) => meanOf(figures['printed']))).toEqual([16, 133, 93, 16, 250]);
    expectMeasured(table, ['datastore', 'azure-tables']);
  });

  test('without an emulator its column says so', async () => {
    const table = await containerTable(emulated.context(undefined, 'azure-tables'), 2);
    for (const { figures } of table.rows)
      expect(figures['azure-tables']).toEqual({ failed: 'azure-tables does not start' });
  });
});

test('after the signal nothing is measured any more, and the tables say why', async () => {
  const chapter = await EXPERIMENT_D.run(contextAlone(AbortSignal.abort(new Error('ended by SIGINT'))));
  const native = chapter.tables[0]!.rows.filter(({ id }) => id !== 'simplejson');
  for (const { figures } of native) expect(figures['now-encode']).toEqual({ missing: 'ended by SIGINT' });
  const verdicts = chapter.findings.map(({ verdict: one }) => one);
  // Fidelity needs no measurement, so its verdict is known at once.
  expect(verdicts).toEqual(['open', 'open', 'open', 'holds']);
});

test('document D: every serializer of then in its order, against repr, five rounds', async () => {
  const { tables, findings } = await EXPERIMENT_D.run(contextAlone());
  const table = tables[0]!;
  const printed = PUBLISHED.serializers_python_2007.mean;
  expect(table.rows.slice(0, 11).map(({ id }) => id)).toEqual(Object.keys(printed));
  expect(ratioOf(table, 'pprint', 'then-encode')).toBeCloseTo(31.4, 1);
  expect(ratioOf(table, 'marshal', 'then-encode')).toBeCloseTo(0.171, 3);
  const native = table.rows.filter(({ id }) => id !== 'simplejson');
  expectMeasured({ ...table, rows: native }, ['now-encode', 'now-decode', 'now-bytes']);
  expect(table.rows[0]!.figures['now-encode']).toMatchObject({ runs: { length: 5 } });
  // Native code is compared with native code: cjson has a stand-in, simplejson (Python) has none.
  const row = (wanted: string) => table.rows.find(({ id }) => id === wanted)!;
  expect(row('cjson').standIn).toBe('JSON (Node.js)');
  expect(row('simplejson').figures['now-encode']).toHaveProperty('missing');
  expect(findings[0]!.text).toMatch(/^JSON by native code took 0\.92 x /);
  expect(findings.every(({ text }) => !text.includes('NaN') && !text.includes('undefined'))).toBe(true);
});

/** A table with the given means in one column. */
function given(against: string, columns: Readonly<Record<string, Readonly<Record<string, number>>>>): FigureTable {
  const rowIds = [...new Set(Object.values(columns).flatMap((rows) => Object.keys(rows)))];
  const figuresOf = (row: string) =>
    Object.entries(columns).flatMap(([column, { [row]: mean }]) =>
      mean === undefined ? [] : [[column, { runs: [mean] }]],
    );
  return {
    columns: Object.keys(columns).map((id) => ({ id, era: /^(printed|then)/.test(id) ? 'then' : 'now', where: id })),
    rows: rowIds.map((id) => ({ id, name: id, against, figures: Object.fromEntries(figuresOf(id)) as object })),
  } as unknown as FigureTable;
}

/** The verdicts of document A on these figures of today. */
function verdictsOf(serializerMs: number, v8: number, csvTime: number, jsonStored: number): string[] {
  const findings = findingsOfA({
    container: given('operation', {
      printed: { decode: 133, encode: 93, operation: 250 },
      azurite: { decode: serializerMs / 2, encode: serializerMs / 2, operation: 10 },
    }),
    rows: given('simplejson', {
      'then-total': { simplejson: 100, marshal: 2, csv: 5 },
      'now-total': { simplejson: 100, marshal: v8, csv: csvTime },
      'then-bytes': { simplejson: 100, csv: 46 },
      'now-bytes': { simplejson: 100, csv: 77 },
    }),
    defaults: given('msgpack+zstd', {
      stored: { 'msgpack+zstd': 300, 'msgpack+none': 2 * jsonStored },
      load: { 'msgpack+zstd': 2, 'msgpack+none': 1 },
      get: { 'msgpack+zstd': 2, 'msgpack+none': 1 },
    }),
  });
  return findings.map(({ verdict: one }) => one);
}

test('the findings of A follow from the figures: other figures, other verdicts', () => {
  const no = 'does not hold';
  expect(verdictsOf(8, 50, 60, 400)).toEqual(['holds', 'holds', 'holds', 'holds']);
  expect(verdictsOf(1, 150, 200, 140)).toEqual([no, no, no, no]);
});
