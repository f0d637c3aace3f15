// What the figures of this run say about document A.
import { type FigureTable, type Finding, meanOf, ratioOf } from '../../results.ts';
import { short } from '../../words.ts';
import { DEFAULT_WAY } from './defaults.ts';

export interface TablesA {
  readonly rows: FigureTable;
  readonly named: FigureTable;
  readonly parts: FigureTable;
  readonly container: FigureTable;
  readonly defaults: FigureTable;
}

export function findingsOf({ rows, named, parts, defaults }: TablesA): Finding[] {
  return [
    share(parts),
    fastest(rows),
    csvNow(rows),
    structures(named),
    compression(defaults),
    defaultWay(defaults),
  ].filter((finding) => finding !== undefined);
}

/** "The serializer decides everything." */
function share(parts: FigureTable): Finding | undefined {
  const shares = parts.columns.flatMap(({ id, era, where }) => {
    const [decode, encode] = ['decode', 'encode'].map((row) => ratioOf(parts, row, id));
    return decode === undefined || encode === undefined ? [] : [{ era, where, share: decode + encode }];
  });
  const now = shares.filter(({ era }) => era === 'now');
  if (now.length === 0)
    return { verdict: 'open', text: 'What an operation spends on its serializer was not measured.' };
  const [then] = shares.filter(({ era }) => era === 'then');
  const texts = now.map(({ where, share: part }) => `${percent(part)} (${where})`);
  return {
    verdict: now.every(({ share: part }) => part > 0.5) ? 'holds' : 'does not hold',
    text: `"The serializer decides everything": decoding and encoding took ${percent(then?.share ?? NaN)} of an operation on a container of 100 kB then, and ${texts.join(' and ')} now, where reading and writing meet no network.`,
  };
}

/** Within this factor of the fastest a run cannot tell the two apart. */
const CLOSE = 1.25;

/** "Marshal wins", by far: the runtime's own format. */
function fastest(rows: FigureTable): Finding | undefined {
  const then = ranked(rows, 'then-total');
  const now = ranked(rows, 'now-total');
  const own = ratioOf(rows, 'marshal', 'now-total');
  if (own === undefined || now.length === 0 || then.length === 0)
    return { verdict: 'open', text: 'Which serializer is the fastest was not measured.' };
  const printed = now.filter(({ id }) => then.some((one) => one.id === id));
  const isFastest = own <= CLOSE * (printed[0]?.ratio ?? Infinity);
  return {
    verdict: isFastest ? 'holds' : 'does not hold',
    text: `The runtime's own format was the fastest then: marshal took ${short(then[0]!.ratio)} of JSON's time for 10,000 rows. Its counterpart, v8 serialize, takes ${short(own)} of it now; the fastest of all measured is ${now[0]!.name} with ${short(now[0]!.ratio)}, the slowest ${now.at(-1)!.name} with ${short(now.at(-1)!.ratio)}.`,
  };
}

/** "CSV comes second and is portable." */
function csvNow(rows: FigureTable): Finding | undefined {
  const [then, now] = ['then-total', 'now-total'].map((column) => ratioOf(rows, 'csv', column));
  const [thenBytes, nowBytes] = ['then-bytes', 'now-bytes'].map((column) => ratioOf(rows, 'csv', column));
  if (then === undefined || now === undefined || thenBytes === undefined || nowBytes === undefined) return undefined;
  return {
    verdict: now < 1 ? 'holds' : 'does not hold',
    text: `CSV was faster than JSON and smaller: ${short(then)} of its time and ${short(thenBytes)} of its bytes then, ${short(now)} of its time and ${short(nowBytes)} of its bytes now.`,
  };
}

function structures(named: FigureTable): Finding | undefined {
  const [time, bytes] = ['now-total', 'now-bytes'].map((column) => ratioOf(named, 'msgpack-shared', column));
  const plain = ratioOf(named, 'msgpack', 'now-bytes');
  if (time === undefined || bytes === undefined || plain === undefined) return undefined;
  return {
    verdict: 'open',
    text: `New since: with names in the rows, msgpack takes ${short(plain)} of JSON's bytes, and ${short(bytes)} with shared structures (in ${short(time)} of JSON's time). No record can be read without the list then, which is why the store does without.`,
  };
}

/** "ZIP makes it smaller", on real text. */
function compression(defaults: FigureTable): Finding {
  const plain = ratioOf(defaults, 'msgpack+none', 'stored');
  const [load, get] = ['load', 'get'].map((column) => ratioOf(defaults, 'msgpack+none', column));
  if (plain === undefined || load === undefined || get === undefined)
    return { verdict: 'open', text: 'What compression saves was not measured.' };
  return {
    verdict: plain > 1 ? 'holds' : 'does not hold',
    text: `Compression makes a container smaller: on real text zstd stores ${short(1 / plain)} of the bytes. Without it a load takes ${short(load)} of the processor time, and a get ${short(get)}.`,
  };
}

/** A difference counts from a tenth on, and only where no run of one reaches into the runs of the other. */
const GAIN = 0.9;

/** -1 if the way is clearly less than the default, 1 if it is clearly more, 0 if the runs do not tell; undefined where either was not measured. */
function standing(defaults: FigureTable, way: string, column: string): number | undefined {
  const ratio = ratioOf(defaults, way, column);
  const [own, other] = [DEFAULT_WAY, way].map((id) => runsIn(defaults, id, column));
  if (ratio === undefined || own === undefined || other === undefined) return undefined;
  if (ratio <= GAIN && Math.max(...other) < Math.min(...own)) return -1;
  return ratio >= 1 / GAIN && Math.min(...other) > Math.max(...own) ? 1 : 0;
}

function runsIn({ rows }: FigureTable, rowId: string, column: string): readonly number[] {
  const figure = rows.find(({ id }) => id === rowId)?.figures[column];
  return figure !== undefined && 'runs' in figure ? figure.runs : [];
}

const WEIGHED = ['stored', 'load', 'get'] as const;

/** Whether the store's default codec and compression are what these figures say they should be. */
function defaultWay(defaults: FigureTable): Finding {
  const others = defaults.rows
    .filter(({ id }) => id !== DEFAULT_WAY)
    .map(({ id, name }) => ({ id, name, signs: WEIGHED.map((column) => standing(defaults, id, column)) }))
    .filter(({ signs }) => signs.every((sign) => sign !== undefined));
  const own = meanOf(defaults.rows.find(({ id }) => id === DEFAULT_WAY)?.figures['stored']);
  if (others.length === 0 || own === undefined)
    return { verdict: 'open', text: "The store's default was not measured." };
  const better = others.filter(({ signs }) => signs.includes(-1) && !signs.includes(1)).map(({ name }) => name);
  const texts = others.map(
    ({ id, name }) => `${name} ${WEIGHED.map((column) => short(ratioOf(defaults, id, column)!)).join(', ')}`,
  );
  return {
    verdict: better.length === 0 ? 'holds' : 'does not hold',
    text: `The store's default, msgpack + zstd, stores ${short(own)} bytes for a record of 500. Against it, in bytes, load and get: ${texts.join('; ')}. ${better.length === 0 ? 'None of them clearly gains without losing elsewhere.' : `Clearly better without losing elsewhere: ${better.join(', ')}.`}`,
  };
}

function ranked(table: FigureTable, column: string): { id: string; name: string; ratio: number }[] {
  return table.rows
    .flatMap(({ id, name, standIn }) => {
      const ratio = ratioOf(table, id, column);
      return ratio === undefined ? [] : [{ id, name: column.startsWith('now') ? (standIn ?? name) : name, ratio }];
    })
    .toSorted((one, other) => one.ratio - other.ratio);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
