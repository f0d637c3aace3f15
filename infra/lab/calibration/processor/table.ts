// The data file that a calibration writes: one for each day.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { ProcessorTable } from '../../../../shared/lab/cloud/data/processor.ts';
import { percent } from '../../../../shared/lab/kit/format.ts';
import type { MeasuredLoad } from './costs.ts';

/** Writes it below `root`, over an earlier one of that day. Resolves to its path. */
export async function writeProcessorTable(table: ProcessorTable, root: string): Promise<string> {
  const file = path.join(root, 'shared/lab/cloud/data', `processor-${table.measured}.ts`);
  const text = processorFile(table);
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
  return file;
}

const COMMENT = [
  '// Client processor time, written by `npm run calibrate`: do not edit it. A calibration',
  '// of another day is a new file.',
];
const IMPORT = ['import type { ProcessorTable } from', "'./processor.ts';"].join(' ');

/** The file's text, not yet formatted. Costs are rounded to tenths of a microsecond. */
export function processorFile(table: ProcessorTable): string {
  const name = `PROCESSOR_${table.measured.replaceAll('-', '_')}`;
  const value = `export const ${name}: ProcessorTable = ${JSON.stringify(table, inTenths)};`;
  return [...COMMENT, IMPORT, '', value, ''].join('\n');
}

function inTenths(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10) / 10 : value;
}

/** How far the table is from what it was made of, for the terminal. */
export function loadsText(loads: readonly MeasuredLoad[]): string {
  const off = loads.map(({ median, fitted }) => Math.abs(fitted / median - 1)).toSorted((one, other) => one - other);
  const [half, most] = [0.5, 0.9].map((share) => percent(off[Math.floor(share * (off.length - 1))]!));
  return `Half of the ${loads.length} loads are within ${half} of the median, nine in ten within ${most}.`;
}
