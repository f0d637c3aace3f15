// What still holds of document E.
import { type Figure, type Finding, type FigureTable, meanOf } from '../../results.ts';
import { meansText, ratiosOf, ratiosText, ratioText, short, verdictOf } from '../../words.ts';
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
  const now = (row: string): string => ratiosText(speed, row, WALL);
  return {
    verdict: verdictOf(ratios, (ratio) => ratio < 0.5),
    text: `One call for many records, not many calls. Of ${speed.title.toLowerCase()}, a batched write took ${then(speed, 'write_batch')} of the time of single writes then, and ${now('write_batch')} now; a batched read ${then(speed, 'read_batch')} of that of single reads then, and ${now('read_batch')} now. This store's putMany takes ${now('putMany')}, its getMany ${now('getMany')}.`,
  };
}

function then(table: FigureTable, row: string): string {
  return ratioText(table, row, 'then-ms');
}

function cache(speed: FigureTable): Finding {
  return {
    verdict: verdictOf(ratiosOf(speed, 'memcache', WALL), (ratio) => ratio < 1),
    text: `A cache is faster than the datastore: memcache took ${then(speed, 'memcache')} of the time of single reads then; a read from this store's cache takes ${ratiosText(speed, 'memcache', WALL)}, as it does not leave the process.`,
  };
}

function prices(price: FigureTable): Finding {
  const row = (id: string): Readonly<Record<string, Figure>> => price.rows.find((one) => one.id === id)?.figures ?? {};
  const then = meanOf(row('write_single')['then-perDollar'])!;
  const now = PER_DOLLAR.map((column) => meanOf(row('write_single')[column])).filter((mean) => mean !== undefined);
  const bought = (id: string): string => meansText(price, id, PER_DOLLAR);
  return {
    verdict: verdictOf(
      now.map((mean) => mean / then),
      (gain) => gain < 2,
    ),
    text: `A dollar bought some ${short(then)} writes and 2 million reads. By operations alone it buys ${bought('write_single')} single writes today, and ${bought('read_single')} single reads; packed by this store's putMany, ${bought('putMany')} writes.`,
  };
}

function maximum(table: FigureTable): Finding {
  const now = (row: string): string => meansText(table, row, COMFORTABLE);
  return {
    verdict: verdictOf(ratiosOf(table, 'write_batch', COMFORTABLE), (ratio) => ratio > 2),
    text: `Half a second, which a visitor waits comfortably, held 20 single writes or 200 batched ones then. Now it holds ${now('write_single')} single and ${now('write_batch')} batched ones: the factor between the two was ${ratioText(table, 'write_batch', 'then-comfortable')}, and is ${ratiosText(table, 'write_batch', COMFORTABLE)}.`,
  };
}

function scaling(rates: FigureTable, ten: string): Finding {
  const gains = [...ratiosOf(rates, ten, PLAIN_RATES), ...ratiosOf(rates, ten, STORE_RATES)];
  const name = rates.rows.find(({ id }) => id === ten)?.name ?? ten;
  return {
    verdict: gains.length === 0 ? 'open' : gains.every((gain) => gain > 5) ? 'holds' : 'open',
    text: `Ten threads brought ${ratioText(rates, ten, 'then-rate')} times the throughput of one; ${name} bring ${ratiosText(rates, ten, [...PLAIN_RATES, ...STORE_RATES])} now. One thread of JavaScript and an emulator on the same machine are busy long before a service would be.`,
  };
}
