// What `npm run growth -- --check` asks of the counts. A goal is the same for every size of the
// table, so that no call may cost more as the table grows.
import type { Between, Figures } from './counted.ts';
import { callRows, type Cell, type Row, soakRow, vacuumRows } from './rows.ts';

type Goal = readonly [call: string, figure: keyof Figures, most: number | ((row: Row) => number)];

/** Goals are of tables with values of this size and keys drawn from all records. */
export const GOAL_BYTES = 300;
/** So many fit into the memory of a process, as most goals take for granted. */
const GOAL_RECORDS_MAX = 100_000;

/** The header of a full leaf, and a page: no more is read for a record or a key. */
const HEADER_AND_PAGE = 9_600;
/** The id of a leaf's last commit, which shows that memory is still right. */
const COMMIT_ID = 8;

const GOALS: readonly Goal[] = [
  ['load by 1,000', 'requests', 3],
  ['load by 1,000', 'writes', 3],
  ['open', 'requests', 1],
  ['get, cold', 'requests', 2],
  ['get, cold', 'read', HEADER_AND_PAGE],
  ['get', 'requests', 1],
  ['get', 'read', COMMIT_ID],
  ['getMany of 100', 'requests', 1],
  ['getMany of 100', 'reads', ({ containers }) => containers],
  ['scan of 100, cold', 'requests', 2.2],
  // 100 records are 25,000 bytes, and the pages at both ends hold others too.
  ['scan of 100, cold', 'read', 38_000],
  ['scan of 100', 'requests', 1.1],
  ['keys, limit 1, cold', 'requests', 2],
  ['keys, limit 1, cold', 'read', HEADER_AND_PAGE],
  ['put', 'requests', 1.01],
  ['put', 'read', COMMIT_ID],
  ['put', 'written', 3_600],
  ['putMany of 1,000', 'requests', 2],
  ['putMany of 1,000', 'writes', ({ containers }) => containers],
  ['count, cold', 'reads', ({ containers }) => 2 * containers],
  ['count', 'reads', ({ containers }) => containers],
  ['count', 'read', ({ containers }) => COMMIT_ID * containers],
  ['3 puts per record', 'stored', ({ beside }) => 1.5 * beside!.stored!],
  // A purge or a merge writes the two leaves and the entry above them, many of each in one request.
  ['vacuum, per merge', 'requests', 1],
  ['vacuum, per merge', 'writes', 3.1],
  // A tenth of what a vacuum takes that merges one pair after another: five for each leaf.
  ['vacuum, requests in a row', 'requests', ({ containers }) => containers / 2],
];

const ofRecords = (records: number): Cell => ({ records, bytes: GOAL_BYTES, keys: 'uniform' });

/** All that goals ask for, of tables of 1,000 records on in tenfold steps. */
export async function goalRows(recordsMax: number, between?: Between): Promise<Row[]> {
  const rows: Row[] = [];
  for (let records = 1_000; records <= recordsMax; records *= 10)
    rows.push(...(await callRows(ofRecords(records), between)));
  rows.push(await soakRow(ofRecords(Math.min(recordsMax, 20_000)), between));
  return [...rows, ...(await vacuumRows(ofRecords(6_000), between))];
}

/** A sentence for each goal that a row misses, and for each that no row is for. */
export function missesOf(rows: readonly Row[]): string[] {
  return GOALS.flatMap(([call, figure, most]) => {
    const judged = rows.filter(
      (row) =>
        row.call === call && row.bytes === GOAL_BYTES && row.keys === 'uniform' && row.records <= GOAL_RECORDS_MAX,
    );
    if (judged.length === 0) return [`${call}: no row`];
    return judged.flatMap((row) => {
      const [is, asked] = [row.packed[figure]!, typeof most === 'number' ? most : most(row)];
      if (is <= asked) return [];
      return [`${call} of ${row.records} records: ${figure} ${is.toFixed(2)}, at most ${asked.toFixed(2)}`];
    });
  });
}
