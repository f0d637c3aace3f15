// The guard's figures to the last digit, as a text to keep, and the changes between two of them.
import { textTable } from '../../kit/text-table.ts';
import type { ModelResult } from '../../cloud/run/cell.ts';
import { failedIn } from '../names.ts';

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

type Row = ReadonlyMap<string, string>;

function rowsOf(text: string): ReadonlyMap<string, Row> {
  const [head = '', ...lines] = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const columns = head.split(SEPARATOR);
  const rows = lines.map((line): [string, Row] => {
    const cells = line.split(SEPARATOR);
    return [cells.slice(0, NAMES.length).join(' '), new Map(columns.map((column, at) => [column, cells[at] ?? '-']))];
  });
  return new Map(rows);
}

function changeOf(name: string, before: Row | undefined, after: Row | undefined): string[] {
  const columns = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])];
  const figures = columns.filter((column) => !NAMES.includes(column));
  const differing = figures.filter((column) => before?.get(column) !== after?.get(column));
  if (differing.length === 0) return [];
  const cells = (row: Row | undefined): string[] => differing.map((column) => row?.get(column) ?? '-');
  return [
    name,
    textTable(
      ['', ...differing],
      [
        ['before', ...cells(before)],
        ['after', ...cells(after)],
      ],
      1,
    ),
  ];
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n')).replace(/^# /, '');
}
