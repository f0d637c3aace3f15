// Findings on document E.
import { threeDigits } from '../../../../shared/lab/kit/format.ts';
import { type Finding, type FigureTable, meanOf } from '../../../../shared/lab/report/chapters/schema.ts';
import { columnsNow, meansText, ratiosIn, verdictOf } from '../words.ts';

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
  const wall = ratiosIn(speed, 'ms');
  const then: RowId = (operation) => wall.before(row(operation));
  const now: RowId = (operation) => wall.now(row(operation));
  return {
    verdict: verdictOf([...wall.of(row('write_batch')), ...wall.of(row('read_batch'))], (ratio) => ratio < 0.5),
    text: `One call for many records, not many calls. Of ${speed.title.toLowerCase()}, a batched write took ${then('write_batch')} the time of single writes then, and ${now('write_batch')} now; a batched read ${then('read_batch')} that of single reads then, and ${now('read_batch')} now. This store's putMany takes ${now('putMany')}, its getMany ${now('getMany')}.`,
  };
}

function cache(speed: FigureTable, row: string): Finding {
  const { before: then, now, of } = ratiosIn(speed, 'ms');
  return {
    verdict: verdictOf(of(row), (ratio) => ratio < 1),
    text: `A cache is faster than the datastore: memcache took ${then(row)} the time of single reads then; a read from this store's cache takes ${now(row)}, as it does not leave the process.`,
  };
}

function prices(price: FigureTable, row: RowId): Finding {
  const columns = columnsNow('perDollar');
  const figures = price.rows.find(({ id }) => id === row('write_single'))!.figures;
  const then = meanOf(figures['then-perDollar'])!;
  const now = columns.map((column) => meanOf(figures[column])).filter((mean) => mean !== undefined);
  const bought = (operation: string): string => meansText(price, row(operation), columns);
  return {
    verdict: verdictOf(now, (mean) => mean / then < 2),
    text: `A dollar bought some ${threeDigits(then)} writes and 2 million reads. By operations alone it buys ${bought('write_single')} single writes today, and ${bought('read_single')} single reads; packed by this store's putMany, ${bought('putMany')} writes.`,
  };
}

function scaling(callers: FigureTable, ten: number): Finding {
  const { before: then, now, of } = ratiosIn(callers, 'rate');
  const [plain, packed] = [`sdk-callers-${ten}`, `store-callers-${ten}`];
  const gains = [...of(plain), ...of(packed)];
  return {
    verdict: gains.length > 0 && gains.every((gain) => gain > 5) ? 'holds' : 'open',
    text: `Ten threads brought ${then(plain)} the throughput of one; ${ten} callers bring the plain SDK ${now(plain)} now, and this store ${now(packed)}. One thread of JavaScript and an emulator on the same machine are busy long before a service would be.`,
  };
}
