// `npm run growth`: what calls of a packed table cost as it grows, in counts that are exact.
import { type CommandLine, command, runCommand, wholeNumber } from '../cli/command-options.ts';
import { textTable } from '../../shared/lab/kit/figure-format.ts';
import { FIGURES, type Figures } from '../../shared/lab/growth/counted.ts';
import { callRows, type Cell, GOAL_BYTES, goalRows, missesOf, type Row } from '../../shared/lab/growth/rows.ts';

const GROWTH = command({
  name: 'npm run growth --',
  about: `Prints what calls cost as a table, its values and its age grow: packed, beside it with an entity per record, and the ratio.
Per call: requests, entities read and written, bytes read and written, bytes stored per record of the table,
dollars per million calls by Datastore's list prices, microseconds of processor time. The rows of three puts per
record stand beside a table that was freshly loaded. All counts are exact. The driver is the memory driver with
Datastore's limits, so no transport is in the processor time, which is this machine's.`,
  options: {
    records: { value: 'N', default: '100000', help: 'the largest table, from 1,000 on in tenfold steps' },
    check: { help: 'the rows that have goals alone; exits 1 if one is missed' },
  },
  examples: ['npm run growth -- --records 1000000', 'npm run growth -- --check'],
});
const HEADER = ['call', 'records, bytes, keys', '', ...FIGURES];
/** For tables with values of another size, or with keys in another order. */
const OTHER_RECORDS = 10_000;
const OTHER_TABLE_BYTES_MAX = 50_000_000;
const OTHERS: readonly Cell[] = [
  ...(['zipfian', 'append', 'tenant'] as const).map((keys) => ({ records: OTHER_RECORDS, bytes: GOAL_BYTES, keys })),
  ...[50, 1_000, 5_000, 20_000, 50_000, 500_000].map((bytes) => ({
    records: Math.min(OTHER_RECORDS, OTHER_TABLE_BYTES_MAX / bytes),
    bytes,
    keys: 'uniform' as const,
  })),
];

await runCommand(GROWTH, process.argv.slice(2), growth);

async function growth({ values: { records, check } }: CommandLine<typeof GROWTH.options>): Promise<void> {
  const recordsMax = wholeNumber('--records', records, 1_000, 1e6);
  // The first table would pay for compiling the code.
  if (!check) await callRows(OTHERS[0]!);
  const rows = await goalRows(recordsMax);
  if (!check) for (const cell of OTHERS) rows.push(...(await callRows(cell)));
  console.log(`${textTable(HEADER, rows.flatMap(linesOf), 3)}\n`);
  const misses = missesOf(rows);
  if (check && misses.length > 0) throw new Error(`goals are missed:\n${misses.join('\n')}`);
}

function linesOf({ call, records, bytes, keys, packed, beside }: Row): string[][] {
  const line = (name: string, figures: Figures): string[] => [
    call,
    `${records}, ${bytes}, ${keys}`,
    name,
    ...FIGURES.map((figure) => figures[figure]?.toFixed(figures[figure] < 100 ? 2 : 0) ?? ''),
  ];
  if (beside === undefined) return [line('packed', packed)];
  const ratios = FIGURES.map((figure) => [figure, packed[figure]! / beside[figure]!] as const);
  const ratio = Object.fromEntries(ratios.filter(([, is]) => Number.isFinite(is)));
  return [line('packed', packed), line('beside', beside), line('ratio', ratio)];
}
