// `stowage explain`: the requests, bytes and dollars of operations, before any of them runs.
import { PRICES_2026_11 } from '../../shared/lab/cost/prices-2026-11.ts';
import { operationPriceList, type OperationPrices } from '../../shared/lab/cost/prices.ts';
import { dollars, textTable, wrapped } from '../../shared/lab/kit/figure-format.ts';
import type { ContainerInfo, Store } from '../../shared/store/index.ts';
import { FROM, storeCommand } from './data/open-store.ts';
import { given } from './command-options.ts';
import { say, sayLines } from './print.ts';

export const explainCommand = storeCommand({
  name: 'stowage explain',
  about: `Says what operations would take: requests, billed operations, bytes, dollars per million. Reads the root, the branches and
one leaf; writes nothing.`,
  options: {
    from: FROM,
    key: { value: 'KEY', default: 'a', help: 'its leaf stands for all leaves' },
    json: { help: 'prints the rows as JSON' },
  },
  async run(store, { operands: [name = ''], values }, signal) {
    const { leaves, rows } = await explained(store, name, values.key, signal);
    const { providers, date } = operationPriceList(PRICES_2026_11);
    const prices = providers[/^gcp:/i.test(values.from!) ? 'datastore' : 'azure-tables'];
    const priced = rows.map((row) => ({ ...row, dollarsAMillion: 1e6 * dollarsOf(row, prices) }));
    sayLines(values.json ? JSON.stringify({ leaves, rows: priced }, null, 2) : text(leaves, priced));
    if (!values.json) for (const line of wrapped(`List prices of ${date}, ${prices.region}; ${BASIS}`)) say(line);
  },
});

/** The work of one call while nobody else writes. */
export interface Explained {
  readonly operation: string;
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
  /** Stored bytes that are read or written. */
  readonly bytes: number;
}

/** No more partitions can be asked for. */
const LEAVES_MAX = 1_024;

/** Cost: a read of the root, of each branch and of one leaf. */
export async function explained(store: Store, name: string, key: string, signal?: AbortSignal) {
  const call = given({ signal });
  const table = await store.table(name, { ...call, create: false });
  const leaf = await store.inspect(name, { ...call, key });
  const leaves = (await table.partitions(LEAVES_MAX, call)).length;
  return { leaves, rows: rowsOf(leaf, leaves) };
}

function rowsOf({ parts, pages }: ContainerInfo, leaves: number): Explained[] {
  const { h: header = 0, c: commit = 0 } = parts;
  const leafBytes = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
  const page = pages.length === 0 ? 0 : Math.round((leafBytes - header - commit) / pages.length);
  const none = { reads: 0, writes: 0, deletes: 0 };
  return [
    { operation: 'get, container in memory', ...none, reads: 1, bytes: commit },
    { operation: 'get, container not in memory', ...none, reads: 2, bytes: 2 * (commit + header) + page },
    { operation: 'put or delete, container in memory', ...none, writes: 1, bytes: commit + header + page },
    { operation: 'scan of all', ...none, reads: leaves, bytes: leaves * leafBytes },
    { operation: 'drop', ...none, reads: leaves, deletes: leaves, bytes: 0 },
  ];
}

const BASIS =
  'nobody else writes meanwhile (else a put reads first), and one leaf stands for all. Calls side by side share requests: stowage cost tells a month.';

function dollarsOf({ reads, writes, deletes }: Explained, prices: OperationPrices): number {
  return reads * prices.dollarsPerRead + writes * prices.dollarsPerWrite + deletes * prices.dollarsPerDelete;
}

function text(leaves: number, rows: readonly (Explained & { readonly dollarsAMillion: number })[]): string {
  const table = textTable(
    ['operation', 'reads', 'writes', 'deletes', 'bytes', '$ per million'],
    rows.map(({ operation, reads, writes, deletes, bytes, dollarsAMillion }) => [
      operation,
      ...[reads, writes, deletes, bytes].map(String),
      dollars(dollarsAMillion),
    ]),
    1,
  );
  return `Leaves: ${leaves}${leaves === LEAVES_MAX ? ' or more' : ''}\n${table}`;
}
