// Findings on document A.
import { factor, percent } from '../../../../../shared/lab/kit/format.ts';
import { type FigureTable, type Finding, ratioOf } from '../../../../../shared/lab/report/chapters/schema.ts';

export interface TablesA {
  readonly rows: FigureTable;
  readonly container: FigureTable;
  readonly defaults: FigureTable;
}

export function findingsOf({ rows, container, defaults }: TablesA): Finding[] {
  return [
    share(container) ?? open('What an operation spends on its serializer'),
    fastest(rows) ?? open('Which serializer is the fastest'),
    csvNow(rows) ?? open('CSV'),
    compression(defaults) ?? open('What compression saves'),
  ];
}

function open(what: string): Finding {
  return { verdict: 'open', text: `${what} was not measured in this run.` };
}

/** The ratios of some rows in one column; undefined if one of them is not known. */
function ratiosIn(table: FigureTable, rows: readonly string[], column: string): number[] | undefined {
  const ratios = rows.map((row) => ratioOf(table, row, column)).filter((ratio) => ratio !== undefined);
  return ratios.length === rows.length ? ratios : undefined;
}

/** "The serializer decides everything." */
function share(container: FigureTable): Finding | undefined {
  const shares = container.columns.flatMap(({ id, era, where }) => {
    const both = ratiosIn(container, ['decode', 'encode'], id);
    return both === undefined ? [] : [{ era, where, share: both[0]! + both[1]! }];
  });
  const [then, now] = [shares.filter(({ era }) => era === 'then'), shares.filter(({ era }) => era === 'now')];
  if (now.length === 0) return undefined;
  const texts = now.map(({ where, share: part }) => `${percent(part)} (${where})`);
  return {
    verdict: now.every(({ share: part }) => part > 0.5) ? 'holds' : 'does not hold',
    text: `"The serializer decides everything": decoding and encoding took ${percent(then[0]!.share)} of an operation on a container of 100 kB then, and ${texts.join(' and ')} now, where reading and writing meet no network.`,
  };
}

/** Within this factor of the fastest a run cannot tell the two apart. */
const CLOSE = 1.25;

/** "Marshal wins", by far: the runtime's own format. */
function fastest(rows: FigureTable): Finding | undefined {
  const [then, now] = [ranked(rows, 'then-total'), ranked(rows, 'now-total')];
  const own = ratioOf(rows, 'marshal', 'now-total');
  if (own === undefined) return undefined;
  const rivals = now.filter(({ id }) => then.some((one) => one.id === id));
  return {
    verdict: own <= CLOSE * rivals[0]!.ratio ? 'holds' : 'does not hold',
    text: `The runtime's own format was the fastest then: marshal, in C, took ${factor(then[0]!.ratio)} the time of JSON, in Python, for 10,000 rows. Now both are in C++, and v8 serialize takes ${factor(own)} JSON's time; the fastest of all measured is ${now[0]!.name} with ${factor(now[0]!.ratio)}, the slowest ${now.at(-1)!.name} with ${factor(now.at(-1)!.ratio)}.`,
  };
}

/** "CSV comes second and is portable." */
function csvNow(rows: FigureTable): Finding | undefined {
  const [then, now, thenBytes, nowBytes] = ['then-total', 'now-total', 'then-bytes', 'now-bytes'].map((column) =>
    ratioOf(rows, 'csv', column),
  );
  if (then === undefined || now === undefined || thenBytes === undefined || nowBytes === undefined) return undefined;
  return {
    verdict: now < 1 ? 'holds' : 'does not hold',
    text: `CSV was faster than JSON and smaller: ${factor(then)} its time (its decoding taken as twice what was printed) and ${factor(thenBytes)} its bytes then, ${factor(now)} its time and ${factor(nowBytes)} its bytes now.`,
  };
}

/** "ZIP makes it smaller", on real text. */
function compression(defaults: FigureTable): Finding | undefined {
  const [plain, load, get] = ['stored', 'load', 'get'].map((column) => ratioOf(defaults, 'msgpack+none', column));
  if (plain === undefined || load === undefined || get === undefined) return undefined;
  return {
    verdict: plain > 1 ? 'holds' : 'does not hold',
    text: `Compression makes a container smaller: on real text zstd stores ${factor(1 / plain)} the bytes. Without it a load takes ${factor(load)} the processor time, and a get ${factor(get)}.`,
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
