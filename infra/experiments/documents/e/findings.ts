// What still holds of document E.
import { type Figure, type Finding, type FigureTable, meanOf, ratioOf } from '../../results.ts';
import { ratiosOf, ratiosText, short, verdictOf } from '../../words.ts';
import type { Crowds } from './throughput.ts';

const WALL = ['datastore-ms', 'azure-tables-ms'];
const PER_DOLLAR = ['datastore-perDollar', 'azure-tables-perDollar'];
const PLAIN_RATES = ['datastore-plain-rate', 'azure-tables-plain-rate'];
const STORE_RATES = ['datastore-store-rate', 'azure-tables-store-rate'];
const COMFORTABLE = ['datastore-comfortable', 'azure-tables-comfortable'];

/** `tables` are the chapter's; `most` is the largest number of records. */
export function findingsOf(tables: readonly FigureTable[], most: number, { callers }: Crowds): Finding[] {
  const table = (id: string): FigureTable => tables.find((one) => one.id === id)!;
  const speed = table(`speed-${most}`);
  const ten = `callers-${callers.find((count) => count === 10) ?? callers.at(-1)!}`;
  return [
    batches(speed),
    cache(speed),
    prices(table('price')),
    maximum(table('maximum')),
    scaling(table('throughput-rate'), ten),
  ];
}

function batches(speed: FigureTable): Finding {
  const ratios = [...ratiosOf(speed, 'write_batch', WALL), ...ratiosOf(speed, 'read_batch', WALL)];
  return {
    verdict: verdictOf(ratios, (ratio) => ratio < 0.5),
    text: `One call for many records, not many calls: of ${speed.title.toLowerCase()}, a batched write took ${then(speed, 'write_batch')} of the time of single writes then, now ${ratiosText(speed, 'write_batch', WALL)}; a batched read ${then(speed, 'read_batch')} then, now ${ratiosText(speed, 'read_batch', WALL)}; this store's putMany ${ratiosText(speed, 'putMany', WALL)}, its getMany ${ratiosText(speed, 'getMany', WALL)}.`,
  };
}

function then(table: FigureTable, row: string): string {
  return short(ratioOf(table, row, 'then-ms') ?? NaN);
}

function cache(speed: FigureTable): Finding {
  return {
    verdict: verdictOf(ratiosOf(speed, 'memcache', WALL), (ratio) => ratio < 1),
    text: `A cache is faster than the datastore: memcache took ${then(speed, 'memcache')} of the time of single reads then; a read from this store's cache takes ${ratiosText(speed, 'memcache', WALL)}, as it leaves the process no more.`,
  };
}

function figureIn(table: FigureTable, row: string, column: string): Figure | undefined {
  return table.rows.find(({ id }) => id === row)?.figures[column];
}

function prices(price: FigureTable): Finding {
  const perDollar = (row: string, column: string): number | undefined => meanOf(figureIn(price, row, column));
  const bought = (row: string): string =>
    price.columns
      .filter(({ id }) => PER_DOLLAR.includes(id))
      .map(({ id, where }) => `${short(perDollar(row, id) ?? NaN)} on ${where}`)
      .join(', ');
  const gains = PER_DOLLAR.map(
    (column) => (perDollar('write_single', column) ?? NaN) / perDollar('write_single', 'then-perDollar')!,
  );
  return {
    verdict: verdictOf(
      gains.filter((gain) => !Number.isNaN(gain)),
      (gain) => gain < 2,
    ),
    text: `That a dollar buys some 360,000 writes and 2 million reads: today, by operations alone, ${bought('write_single')} single writes and ${bought('read_single')} reads; packed by this store's putMany, ${bought('putMany')} writes.`,
  };
}

function maximum(table: FigureTable): Finding {
  const values = (row: string): string =>
    table.columns
      .filter(({ id }) => COMFORTABLE.includes(id))
      .map(({ id, where }) => `${short(meanOf(figureIn(table, row, id)) ?? NaN)} on ${where}`)
      .join(', ');
  const written = ratiosOf(table, 'write_batch', COMFORTABLE);
  return {
    verdict: verdictOf(written, (ratio) => ratio > 2),
    text: `A visitor who waits half a second could wait for 20 single writes or 200 batched ones then; for ${values('write_single')} single and ${values('write_batch')} batched ones now. The factor between the two was ${short(ratioOf(table, 'write_batch', 'then-comfortable') ?? NaN)}, and is ${ratiosText(table, 'write_batch', COMFORTABLE)}.`,
  };
}

function scaling(rates: FigureTable, ten: string): Finding {
  const gains = [...ratiosOf(rates, ten, PLAIN_RATES), ...ratiosOf(rates, ten, STORE_RATES)];
  const name = rates.rows.find(({ id }) => id === ten)?.name ?? ten;
  return {
    verdict: gains.length === 0 ? 'open' : gains.every((gain) => gain > 5) ? 'holds' : 'open',
    text: `Ten threads brought ${short(ratioOf(rates, ten, 'then-rate') ?? NaN)} times the throughput of one; ${name} now bring ${ratiosText(rates, ten, [...PLAIN_RATES, ...STORE_RATES])}. One thread of JavaScript and an emulator on the same machine are busy long before a service would be.`,
  };
}
