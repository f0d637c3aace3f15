// CSV of a dictionary: a line a row, its key in the first column.
import Papa from 'papaparse';
import { type Codec, type Dictionary, textCodec } from './codecs.ts';

/** The dictionary's values: rows with the same names, told by the first line, or one cell each. */
type CsvShape = 'rows' | 'cell';

/** Numbers, truth values and empty cells are read as what they look like: CSV has only text. */
export function csv(shape: CsvShape): Codec {
  return textCodec(
    { id: 'csv', name: 'CSV', library: 'papaparse' },
    (value) => Papa.unparse(linesOf(value, shape)),
    (text) => dictionaryOf(Papa.parse<unknown[]>(text, { dynamicTyping: true }).data, shape),
  );
}

function linesOf(value: Dictionary, shape: CsvShape): unknown[][] {
  const entries = Object.entries(value);
  if (shape === 'cell') return entries.map(([key, cell]) => [key, cell]);
  const names = Object.keys(entries[0]?.[1] ?? {});
  return [['', ...names], ...entries.map(([key, row]) => [key, ...Object.values(row as Dictionary)])];
}

function dictionaryOf(lines: readonly unknown[][], shape: CsvShape): Dictionary {
  if (shape === 'cell') return Object.fromEntries(lines.map(([key, cell]) => [key, cell]));
  const [[, ...names] = [], ...rows] = lines;
  return Object.fromEntries(
    rows.map(([key, ...cells]) => [key, Object.fromEntries(names.map((name, at) => [name, cells[at]]))]),
  );
}
