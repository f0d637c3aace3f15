// `npm run growth`: what calls of a packed table cost as it grows, in counts that are exact.
import { type CommandLine, command, runCommand, wholeNumber } from '../cli/options.ts';
import { textTable } from '../../shared/lab/kit/text-table.ts';
import { FIGURES, type Figures } from '../../shared/lab/growth/counted.ts';
import { missesOf } from '../../shared/lab/growth/goals.ts';
import { callRows, type Cell, type Row, soakRow, vacuumRows } from '../../shared/lab/growth/rows.ts';

const GROWTH = command({
  name: 'npm run growth --',
  about: `Prints what calls cost as a table, its values and its age grow: packed, as an entity per record (plain), and the ratio.
It runs on the memory driver with Datastore's limits, so there is no transport in it. Counts are exact;
processor time is this machine's.`,
  options: {
    records: { value: 'N', default: '100000', help: 'the largest table, from 1,000 on in tenfold steps' },
    check: { help: 'only the rows that have goals; exits 1 if one is missed' },
  },
  examples: ['npm run growth -- --records 1000000', 'npm run growth -- --check --records 10000'],
});
const HEADER = ['call', 'records, bytes, keys', 'layout', ...FIGURES];
const BYTES = 300;
const OTHER_BYTES = [50, 1_000, 5_000, 20_000, 50_000, 500_000];
const OTHER_KEYS = ['zipfian', 'append', 'tenant'] as const;
/** Of a cell that has another size of values or another order of keys. */
const OTHER_RECORDS = 10_000;
const CELL_BYTES_MAX = 50_000_000;
const SOAK_RECORDS_MAX = 20_000;

await runCommand(GROWTH, process.argv.slice(2), growth);

async function growth({ values: { records, check } }: CommandLine<typeof GROWTH.options>): Promise<void> {
  const recordsMax = wholeNumber('--records', records, 1_000, 1e6);
  const sizes = [1_000, 10_000, 100_000, 1_000_000].filter((size) => size <= recordsMax);
  const cells: Cell[] = sizes.map((size) => ({ records: size, bytes: BYTES, keys: 'uniform' }));
  if (!check) {
    // The first cell would pay for compiling the code.
    await callRows(cells[0]!);
    for (const keys of OTHER_KEYS) cells.push({ records: OTHER_RECORDS, bytes: BYTES, keys });
    for (const bytes of OTHER_BYTES)
      cells.push({ records: Math.min(OTHER_RECORDS, CELL_BYTES_MAX / bytes), bytes, keys: 'uniform' });
  }
  const rows: Row[] = [];
  for (const cell of cells) rows.push(...(await callRows(cell)));
  rows.push(await soakRow({ records: Math.min(recordsMax, SOAK_RECORDS_MAX), bytes: BYTES, keys: 'uniform' }));
  rows.push(...(await vacuumRows()));
  console.log(`${textTable(HEADER, rows.flatMap(linesOf), 3)}\n`);
  const misses = missesOf(rows);
  if (misses.length > 0 && check) throw new Error(`goals are missed:\n${misses.join('\n')}`);
}

function linesOf({ call, records, bytes, keys, packed, beside }: Row): string[][] {
  const of = `${records}, ${bytes}, ${keys}`;
  const line = (name: string, figures: Figures): string[] => [
    call,
    of,
    name,
    ...FIGURES.map((figure) => figures[figure]?.toFixed(figures[figure] < 100 ? 2 : 0) ?? ''),
  ];
  if (beside === undefined) return [line('packed', packed)];
  const ratios = FIGURES.map((name) => [name, packed[name]! / beside[name]!]).filter(([, ratio]) => Number.isFinite(ratio));
  return [line('packed', packed), line('beside', beside), line('ratio', Object.fromEntries(ratios) as Figures)];
}
