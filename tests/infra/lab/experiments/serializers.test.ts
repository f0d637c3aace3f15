// Documents A and D: the inputs are those of then, every printed figure stands in its row, and fidelity says what is so.
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import {
  BASELINE as BASELINE_A,
  listRows,
  namedRows,
  sixColumnTable,
} from '../../../../infra/lab/experiments/documents/a/six-columns.ts';
import { compressedTable } from '../../../../infra/lab/experiments/documents/a/compressed.ts';
import { containerTable } from '../../../../infra/lab/experiments/documents/a/container.ts';
import { findingsOf as findingsOfA } from '../../../../infra/lab/experiments/documents/a/findings.ts';
import { partsTable } from '../../../../infra/lab/experiments/documents/a/parts.ts';
import {
  BSON,
  CBOR,
  type Codec,
  JS_YAML,
  JSON_TEXT,
  MSGPACK,
  MSGPACK_REFERENCES,
  sharedStructures,
  V8,
  YAML,
} from '../../../../infra/lab/experiments/documents/codecs/codecs.ts';
import { csv } from '../../../../infra/lab/experiments/documents/codecs/csv.ts';
import { fidelityTable, verdict } from '../../../../infra/lab/experiments/documents/codecs/fidelity.ts';
import { DICTIONARY, EXPERIMENT_D } from '../../../../infra/lab/experiments/documents/d/d.ts';
import { INSPECT, INSPECT_LINES } from '../../../../infra/lab/experiments/documents/d/text-form.ts';
import type { ExperimentContext } from '../../../../infra/lab/experiments/experiment.ts';
import { PUBLISHED } from '../../../../infra/lab/experiments/published/published.ts';
import { type FigureTable, meanOf, ratioOf } from '../../../../infra/lab/experiments/results.ts';

function context(overrides: Partial<ExperimentContext> = {}): ExperimentContext {
  return {
    signal: new AbortController().signal,
    log: () => {},
    emulator: () => Promise.reject(new Error('no emulator here')),
    ...overrides,
  };
}

const CODECS: readonly Codec[] = [
  MSGPACK,
  sharedStructures(),
  MSGPACK_REFERENCES,
  JSON_TEXT,
  V8,
  CBOR,
  BSON,
  YAML,
  JS_YAML,
];

test.each([...CODECS, csv('list')])('the rows of then come back the same: $name ($library)', (codec) => {
  const rows = listRows(50);
  expect(Object.keys(rows)).toHaveLength(50);
  expect(rows['7']).toEqual(['Vorname', 'Nachname', 'Strasse', 12_345, 100.5, null]);
  expect(isDeepStrictEqual(codec.decode(codec.encode(rows)), rows)).toBe(true);
});

test.each([...CODECS, csv('named')])('rows with names come back the same: $name ($library)', (codec) => {
  const rows = namedRows(50);
  expect(isDeepStrictEqual(codec.decode(codec.encode(rows)), rows)).toBe(true);
});

test.each([...CODECS, csv('cell'), INSPECT, INSPECT_LINES])(
  'the dictionary of then comes back the same: $name ($library)',
  (codec) => {
    expect(isDeepStrictEqual(codec.decode(codec.encode(DICTIONARY)), DICTIONARY)).toBe(true);
  },
);

test('shared structures write the names of fields once for all', () => {
  const shared = sharedStructures();
  const bytes = shared.encode(namedRows(50));
  expect(Buffer.from(bytes).includes('firstName')).toBe(false);
  expect(bytes.length).toBeLessThan(MSGPACK.encode(namedRows(50)).length / 2);
});

test('fidelity: what comes back is told from what is refused and what is lost', () => {
  expect(verdict(V8, -0)).toBe('same');
  expect(verdict(JSON_TEXT, -0)).toBe('0');
  expect(verdict(JSON_TEXT, NaN)).toBe('null');
  expect(verdict(JSON_TEXT, 1n)).toBe('refused');
  expect(verdict(JSON_TEXT, undefined)).toBe('left out');
  expect(verdict(JSON_TEXT, new Date(0))).toBe('"1970-01-01T00:00:00.000Z"');
  expect(verdict(csv('cell'), '007')).toBe('7');
  expect(verdict(BSON, Uint8Array.of(1))).toBe('a Binary');
  const one = {};
  expect(verdict(V8, [one, one])).toBe('same');
  expect(verdict(MSGPACK, [one, one])).toBe('two objects');
  expect(verdict(MSGPACK_REFERENCES, [one, one])).toBe('same');
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
    for (const id of columnIds)
      expect({ row: row.id, id, figure: meanOf(row.figures[id]) }).toEqual({
        row: row.id,
        id,
        figure: expect.any(Number),
      });
}

test('document A: 1,000 rows, with every figure that was printed', async () => {
  const table = await sixColumnTable(context(), 1_000);
  for (const [id, printed] of Object.entries(PUBLISHED.serializers_gae_2008.rows_1000))
    for (const [measure, value] of Object.entries(printed)) {
      const row = table.rows.find((one) => one.id === id);
      expect(row?.figures[`then-${measure}`]).toEqual({ runs: [value] });
    }
  expectMeasured(table, ['now-encode', 'now-decode', 'now-total', 'now-bytes']);
  expect(ratioOf(table, BASELINE_A, 'then-total')).toBe(1);
  expect(
    table.rows.every(({ figures }) => 'runs' in figures['now-encode']! && figures['now-encode'].runs.length === 2),
  ).toBe(true);
});

test('document A: compressed rows come back, and are smaller', async () => {
  const table = await compressedTable(context(), 1_000);
  expectMeasured(table, ['bytes']);
  expect(table.rows).toHaveLength(8 * 4);
  for (const { id } of table.rows.filter(({ id }) => !id.endsWith('+plain')))
    expect(ratioOf(table, id, 'bytes')).toBeLessThan(0.2);
});

test('document A: without an emulator its columns say so, and the memory driver is measured', async () => {
  const table = await containerTable(context());
  expectMeasured(table, ['memory-get', 'memory-put', 'memory-delete']);
  for (const { figures } of table.rows) expect(figures['datastore-get']).toEqual({ failed: 'no emulator here' });
  const parts = await partsTable(context());
  expect(parts.rows.map(({ figures }) => meanOf(figures['printed']))).toEqual([16, 133, 93, 16, 250]);
  for (const { figures } of parts.rows) expect(figures['azure-tables']).toEqual({ failed: 'no emulator here' });
});

test('after the signal nothing is measured any more, and the tables say why', async () => {
  const stop = new AbortController();
  stop.abort(new Error('ended by SIGINT'));
  const chapter = await EXPERIMENT_D.run(context({ signal: stop.signal }));
  for (const { figures } of chapter.tables[0]!.rows) expect(figures['encode']).toEqual({ missing: 'ended by SIGINT' });
  const verdicts = chapter.findings.map(({ verdict: one }) => one);
  // Fidelity is no measurement: it is known at once.
  expect(verdicts).toEqual(['open', 'open', 'open', 'holds']);
});

test('document D: every serializer of then in its order, against repr, five rounds', async () => {
  const { tables, findings } = await EXPERIMENT_D.run(context());
  const table = tables[0]!;
  const printed = PUBLISHED.serializers_python_2007.mean;
  expect(table.rows.slice(0, 11).map(({ id }) => id)).toEqual(Object.keys(printed));
  expect(ratioOf(table, 'pprint', 'printed')).toBeCloseTo(31.4, 1);
  expect(ratioOf(table, 'marshal', 'printed')).toBeCloseTo(0.171, 3);
  expectMeasured(table, ['encode', 'decode', 'bytes']);
  expect(table.rows[0]!.figures['encode']).toMatchObject({ runs: { length: 5 } });
  expect(findings.every(({ text }) => !text.includes('NaN') && !text.includes('undefined'))).toBe(true);
});

/** A table with the given means in one column. */
function given(
  id: string,
  columns: Readonly<Record<string, Readonly<Record<string, number>>>>,
  against: string,
): FigureTable {
  const rowIds = [...new Set(Object.values(columns).flatMap((rows) => Object.keys(rows)))];
  return {
    id,
    title: id,
    about: '',
    columns: Object.keys(columns).map((column) => ({
      id: column,
      era: column === 'printed' || column.startsWith('then') ? 'then' : 'now',
      measure: column,
      where: column,
      unit: 'ms',
      better: 'lower',
    })),
    rows: rowIds.map((row) => ({
      id: row,
      name: row,
      against,
      figures: Object.fromEntries(
        Object.entries(columns).flatMap(([column, rows]) =>
          rows[row] === undefined ? [] : [[column, { runs: [rows[row]] as [number] }]],
        ),
      ),
    })),
  };
}

/** The tables of A with these figures of today. */
function tablesOf(serializerMs: number, v8: number, csvTime: number, jsonStored: number) {
  return {
    parts: given(
      'parts',
      {
        printed: { decode: 133, encode: 93, operation: 250 },
        azurite: { decode: serializerMs / 2, encode: serializerMs / 2, operation: 10 },
      },
      'operation',
    ),
    rows: given(
      'rows',
      {
        'then-total': { simplejson: 100, marshal: 2, csv: 5 },
        'now-total': { simplejson: 100, marshal: v8, csv: csvTime },
        'then-bytes': { simplejson: 100, csv: 46 },
        'now-bytes': { simplejson: 100, csv: 77 },
      },
      'simplejson',
    ),
    named: given('named', {}, 'json'),
    container: given('container', {}, 'msgpack'),
    defaults: given(
      'defaults',
      {
        stored: {
          'msgpack+zstd': 300,
          'json+zstd': jsonStored,
          'msgpack+none': 2 * jsonStored,
        },
        load: { 'msgpack+zstd': 2, 'json+zstd': 1, 'msgpack+none': 1 },
        get: { 'msgpack+zstd': 2, 'json+zstd': 1, 'msgpack+none': 1 },
      },
      'msgpack+zstd',
    ),
  };
}

function verdictsOf(...figures: Parameters<typeof tablesOf>): string[] {
  return findingsOfA(tablesOf(...figures)).map(({ verdict: one }) => one);
}

test('the findings of A follow from the figures: other figures, other verdicts', () => {
  const no = 'does not hold';
  expect(verdictsOf(8, 50, 60, 400)).toEqual(['holds', 'holds', 'holds', 'holds', 'holds']);
  expect(verdictsOf(1, 150, 200, 140)).toEqual([no, no, no, no, no]);
});
