// CSV of a dictionary: a line a row, its key in the first column.
import Papa from 'papaparse';
import { type Codec, type Dictionary, textOf } from './codecs.ts';

/**
 * The dictionary's values: rows with the same names, which the first line has, or one cell each.
 */
export type CsvShape = 'rows' | 'cell';

/**
 * Reads numbers, truth values and empty cells back as what they look like: CSV has nothing but
 * text.
 */
export function csv(shape: CsvShape): Codec {
  return {
    id: 'csv',
    name: 'CSV',
    library: 'papaparse',
    encode: (value) => Buffer.from(Papa.unparse(linesOf(value, shape))),
    decode: (bytes) => {
      const { data } = Papa.parse<unknown[]>(textOf(bytes), { dynamicTyping: true });
      return dictionaryOf(data, shape);
    },
  };
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
