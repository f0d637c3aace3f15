// What the figures say about container size.
import { type Finding, type FigureTable, meanOf, ratioOf } from '../../results.ts';
import { ratiosOf, ratiosText, short, verdictOf } from '../../words.ts';
import { CALLERS, columnId, type Kind } from './work.ts';

const PLACES = ['memory', 'datastore', 'azure-tables'] as const;

/** Against the default, which is the largest; `sizesKib` count up. */
export function findingsOf(tables: readonly FigureTable[], sizesKib: readonly number[]): Finding[] {
  const rows = sizesKib.map((kib) => `${kib}-kib`);
  const table = (kind: Kind): FigureTable => tables.find(({ id }) => id === kind)!;
  const smallest = rows[0]!;
  return [
    bulk(table('load'), table('scan'), smallest),
    callers(table('puts'), rows),
    lone(table('put'), table('get'), rows),
  ];
}

function bulk(load: FigureTable, scan: FigureTable, smallest: string): Finding {
  const loads = PLACES.map((place) => columnId(place, 'load', 'requests'));
  const scans = PLACES.map((place) => columnId(place, 'scan', 'requests'));
  return {
    verdict: verdictOf([...ratiosOf(load, smallest, loads), ...ratiosOf(scan, smallest, scans)], (ratio) => ratio > 1),
    text: `Few large objects are what bulk work wants: with containers of ${nameOf(load, smallest)} instead of the default, a load takes ${ratiosText(load, smallest, loads)} times the requests, a scan ${ratiosText(scan, smallest, scans)} times.`,
  };
}

function callers(puts: FigureTable, rows: readonly string[]): Finding {
  const texts = PLACES.map((place) => {
    const column = columnId(place, 'puts', 'ms');
    const fastest = fastestOf(puts, rows, column);
    if (fastest === undefined) return `nothing measured on ${whereOf(puts, column)}`;
    const share = ratioOf(puts, fastest, column);
    const ofDefault = share === undefined ? '' : `, ${short(share)} of the default's time`;
    return `${nameOf(puts, fastest)} (${whereOf(puts, column)}${ofDefault})`;
  });
  return {
    verdict: 'open',
    text: `Many callers on a small table: in small containers fewer of them wait for the same commit, in large ones more of them share it. Puts of ${CALLERS} callers were fastest at ${texts.join(', ')}.`,
  };
}

function lone(put: FigureTable, get: FigureTable, rows: readonly string[]): Finding {
  const puts = PLACES.map((place) => extremes(put, rows, columnId(place, 'put', 'cpu')));
  const gets = PLACES.map((place) => extremes(get, rows, columnId(place, 'get', 'cpu')));
  return {
    verdict: 'open',
    text: `A lone put or get moves a header and a page whatever the container holds: over all sizes, the processor time of a put was ${puts.join(', ')} of the default's, that of a get ${gets.join(', ')}.`,
  };
}

function fastestOf(table: FigureTable, rows: readonly string[], column: string): string | undefined {
  const timed = [...rows, 'own'].flatMap((row) => {
    const mean = meanOf(table.rows.find(({ id }) => id === row)?.figures[column]);
    return mean === undefined ? [] : [{ row, mean }];
  });
  return timed.toSorted((one, other) => one.mean - other.mean)[0]?.row;
}

function extremes(table: FigureTable, rows: readonly string[], column: string): string {
  const ratios = rows.map((row) => ratioOf(table, row, column)).filter((ratio) => ratio !== undefined);
  if (ratios.length === 0) return `not measured on ${whereOf(table, column)}`;
  return `${short(Math.min(...ratios))} to ${short(Math.max(...ratios))} on ${whereOf(table, column)}`;
}

function nameOf(table: FigureTable, row: string): string {
  return table.rows.find(({ id }) => id === row)?.name ?? row;
}

function whereOf(table: FigureTable, column: string): string {
  return table.columns.find(({ id }) => id === column)?.where ?? column;
}
