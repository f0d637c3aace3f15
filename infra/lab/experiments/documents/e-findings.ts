// Findings on document E.
import { threeDigits } from '../../../../shared/lab/kit/format.ts';
import { type Finding, type FigureTable, meanOf } from '../../../../shared/lab/report/chapters/schema.ts';
import { meansText, ratiosOf, ratiosText, ratioText, verdictOf } from '../words.ts';

const WALL = ['datastore-ms', 'azure-tables-ms'];
const PER_DOLLAR = ['datastore-perDollar', 'azure-tables-perDollar'];
const RATES = ['datastore-rate', 'azure-tables-rate'];

/** `tables` are the chapter's; `most` is the largest number of records. */
export function findingsOf(tables: readonly FigureTable[], most: number, callers: readonly number[]): Finding[] {
  const table = (id: string): FigureTable => tables.find((one) => one.id === id)!;
  const row = (operation: string): string => `${operation}-${most}`;
  const ten = callers.find((count) => count === 10) ?? callers.at(-1)!;
  return [
    batches(table(`speed-${most}`), row),
    cache(table(`speed-${most}`), row('memcache')),
    prices(table('price'), row),
    scaling(table('callers'), ten),
  ];
}

type RowId = (operation: string) => string;

function batches(speed: FigureTable, row: RowId): Finding {
  const ratios = ['write_batch', 'read_batch'].flatMap((operation) => ratiosOf(speed, row(operation), WALL));
  const then = (operation: string): string => ratioText(speed, row(operation), 'then-ms');
  const now = (operation: string): string => ratiosText(speed, row(operation), WALL);
  return {
    verdict: verdictOf(ratios, (ratio) => ratio < 0.5),
    text: `One call for many records, not many calls. Of ${speed.title.toLowerCase()}, a batched write took ${then('write_batch')} the time of single writes then, and ${now('write_batch')} now; a batched read ${then('read_batch')} that of single reads then, and ${now('read_batch')} now. This store's putMany takes ${now('putMany')}, its getMany ${now('getMany')}.`,
  };
}

function cache(speed: FigureTable, row: string): Finding {
  return {
    verdict: verdictOf(ratiosOf(speed, row, WALL), (ratio) => ratio < 1),
    text: `A cache is faster than the datastore: memcache took ${ratioText(speed, row, 'then-ms')} the time of single reads then; a read from this store's cache takes ${ratiosText(speed, row, WALL)}, as it does not leave the process.`,
  };
}

function prices(price: FigureTable, row: RowId): Finding {
  const figures = price.rows.find(({ id }) => id === row('write_single'))!.figures;
  const then = meanOf(figures['then-perDollar'])!;
  const gains = PER_DOLLAR.map((column) => meanOf(figures[column]))
    .filter((now) => now !== undefined)
    .map((now) => now / then);
  const bought = (operation: string): string => meansText(price, row(operation), PER_DOLLAR);
  return {
    verdict: verdictOf(gains, (gain) => gain < 2),
    text: `A dollar bought some ${threeDigits(then)} writes and 2 million reads. By operations alone it buys ${bought('write_single')} single writes today, and ${bought('read_single')} single reads; packed by this store's putMany, ${bought('putMany')} writes.`,
  };
}

function scaling(callers: FigureTable, ten: number): Finding {
  const [plain, packed] = [`sdk-callers-${ten}`, `store-callers-${ten}`];
  const gains = [...ratiosOf(callers, plain, RATES), ...ratiosOf(callers, packed, RATES)];
  return {
    verdict: gains.length > 0 && gains.every((gain) => gain > 5) ? 'holds' : 'open',
    text: `Ten threads brought ${ratioText(callers, plain, 'then-rate')} the throughput of one; ${ten} callers bring the plain SDK ${ratiosText(callers, plain, RATES)} now, and this store ${ratiosText(callers, packed, RATES)}. One thread of JavaScript and an emulator on the same machine are busy long before a service would be.`,
  };
}
