// What still holds of document C.
import type { Finding, FigureTable } from '../../results.ts';
import { ratiosOf, ratiosText, ratioText, verdictOf } from '../../words.ts';

const SECONDS = ['datastore-s', 'azure-tables-s'];
/** Sizes that differ by a factor of 10,000 "make no difference" if the times differ by less than this. */
const SAME = 1.25;

export function findingsOf(seconds: FigureTable, spent: FigureTable): Finding[] {
  return [size(seconds), grouping(seconds), batch(seconds), store(seconds, spent)];
}

function then(table: FigureTable, row: string): string {
  return ratioText(table, row, 'then-s');
}

function size(seconds: FigureTable): Finding {
  return {
    verdict: verdictOf(ratiosOf(seconds, 'small-single', SECONDS), (ratio) => 1 / ratio < SAME),
    text: `That size has no effect: one by one, records of one character took ${then(seconds, 'small-single')} of the time of those of 10,000 then, and ${ratiosText(seconds, 'small-single', SECONDS)} now. What remains is work on bytes, which no distance hides here.`,
  };
}

function grouping(seconds: FigureTable): Finding {
  return {
    verdict: verdictOf(ratiosOf(seconds, 'big-transaction', SECONDS), (ratio) => ratio < 1 / SAME),
    text: `That the number of round trips counts: one transaction took ${then(seconds, 'big-transaction')} of the time of ten writes then, and ${ratiosText(seconds, 'big-transaction', SECONDS)} now; ten records of one character in one transaction, ${ratiosText(seconds, 'small-transaction', SECONDS)}.`,
  };
}

function batch(seconds: FigureTable): Finding {
  const columns = ['datastore-s'];
  const [batched] = ratiosOf(seconds, 'big-batch', columns);
  const [transaction] = ratiosOf(seconds, 'big-transaction', columns);
  const isSo = batched !== undefined && transaction !== undefined ? batched <= transaction * SAME : undefined;
  return {
    verdict: isSo === undefined ? 'open' : isSo ? 'holds' : 'does not hold',
    text: `That a batch without a transaction does it too, as a comment says: it takes ${ratiosText(seconds, 'big-batch', columns)} of the time of ten writes, in one request where the transaction takes two.`,
  };
}

function store(seconds: FigureTable, spent: FigureTable): Finding {
  const billed = ['datastore-billed', 'azure-tables-billed'];
  return {
    verdict: verdictOf(ratiosOf(spent, 'store-big-batch', billed), (ratio) => ratio < 0.5),
    text: `Few large objects: one putMany of this store writes the ten big records for ${ratiosText(spent, 'store-big-batch', billed)} of the operations that ten writes are billed as, in ${ratiosText(seconds, 'store-big-batch', SECONDS)} of their time.`,
  };
}
