// The guard: the figures of a small plan to the last digit, kept in the repository, and the changes
// between two of them.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import Papa from 'papaparse';
import type { ModelResult } from '../../../shared/lab/cloud/run/cell.ts';
import { textTable } from '../../../shared/lab/kit/text-table.ts';
import { failedIn } from '../../../shared/lab/report/names.ts';

const FILE = fileURLToPath(new URL('guard.tsv', import.meta.url));

/** Every figure as it is now. Node.js compresses pages, so its version belongs to the figures. */
function textOf(results: readonly ModelResult[]): string {
  const from = 'a MODEL of the clouds; written by npm run model -- --accept';
  return guardText(results, `${from}; Node.js ${process.versions.node}`);
}

/** Compares with what is kept. Throws an Error that shows each row that moved, before and after. */
export async function checkGuard(results: readonly ModelResult[]): Promise<string> {
  const changes = guardChanges(await readFile(FILE, 'utf8'), textOf(results));
  if (changes === '') return `all ${results.length} rows of the guard are as they were`;
  throw new Error(`figures of the model moved:\n${changes}\nif that is meant: npm run model -- --accept`);
}

export async function acceptGuard(results: readonly ModelResult[]): Promise<string> {
  const text = textOf(results);
  const changes = guardChanges(await readFile(FILE, 'utf8'), text);
  await writeFile(FILE, text);
  return changes === '' ? 'nothing moved' : `${changes}\nkept in ${FILE}`;
}

const SEPARATOR = '\t';
/** The first columns, which name a row. */
const NAMES = ['provider', 'layout', 'case'];

const FIGURES: Readonly<Record<string, (result: ModelResult) => number | null>> = {
  'op/s': (result) => result.operationsPerSecond,
  'mean ms': (result) => result.meanMs,
  'p50 ms': (result) => result.p50Ms,
  'max ms': (result) => result.maxMs,
  'req/op': (result) => result.requestsPerOperation,
  'billed/op': (result) => result.billedPerOperation,
  'conflicts/op': (result) => result.conflictsPerOperation,
  'bytes read/op': (result) => result.bytesReadPerOperation,
  'bytes written/op': (result) => result.bytesWrittenPerOperation,
  '$/1M': (result) => result.dollarsPerMillion,
  slowest: (result) => result.slowestCaller,
  processor: (result) => result.processorMean,
  errors: (result) => failedIn(result) + result.warmupErrors,
  containers: (result) => result.containers,
  events: (result) => result.steps,
};

export function guardText(results: readonly ModelResult[], from: string): string {
  const head = [...NAMES, ...Object.keys(FIGURES)].join(SEPARATOR);
  const rows = results.map((result) => {
    const { provider, layout, case: name } = result.cell;
    const figures = Object.values(FIGURES).map((figure) => String(figure(result) ?? '-'));
    return [provider, layout, name, ...figures].join(SEPARATOR);
  });
  return [`# ${from}`, head, ...rows, ''].join('\n');
}

/** The rows that differ, each as it was and as it is, in words; the empty string if none does. */
export function guardChanges(before: string, after: string): string {
  const [old, now] = [rowsOf(before), rowsOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const changed = names.flatMap((name) => changeOf(name, old.get(name), now.get(name)));
  if (changed.length === 0) return '';
  const [was, is] = [firstLine(before), firstLine(after)];
  return [...changed, ...(was === is ? [] : [`kept: ${was}`, `now:  ${is}`])].join('\n');
}

type Row = Readonly<Partial<Record<string, string>>>;

function rowsOf(text: string): ReadonlyMap<string, Row> {
  const { data } = Papa.parse<Row>(text, { header: true, delimiter: SEPARATOR, comments: '#', skipEmptyLines: true });
  return new Map(data.map((row) => [NAMES.map((name) => row[name]).join(' '), row]));
}

function changeOf(name: string, before: Row = {}, after: Row = {}): string[] {
  const figures = Object.keys({ ...before, ...after }).filter((column) => !NAMES.includes(column));
  const differing = figures.filter((column) => before[column] !== after[column]);
  if (differing.length === 0) return [];
  const lineOf = (title: string, row: Row): string[] => [title, ...differing.map((column) => row[column] ?? '-')];
  return [name, textTable(['', ...differing], [lineOf('before', before), lineOf('after', after)], 1)];
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n')).replace(/^# /, '');
}
