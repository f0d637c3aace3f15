// `npm run growth`: what a call costs as a table and its values grow, in counts that are exact,
// on the memory driver. Processor time is this machine's; compare it within a row only.
import { type CommandLine, command, runCommand, wholeNumber } from '../cli/options.ts';
import { measured } from '../../shared/drivers/measured.ts';
import { memoryDriver, memoryState } from '../../shared/drivers/memory.ts';
import { seededRandom } from '../../shared/lab/kit/random.ts';
import { textTable } from '../../shared/lab/kit/text-table.ts';
import { randomText } from '../../shared/lab/work/sample-records.ts';
import { openStore } from '../../shared/store/index.ts';

const GROWTH = command({
  name: 'npm run growth --',
  about: 'Prints requests, bytes and processor time per call of a packed table, on the memory driver.',
  options: {
    records: { value: 'N', default: '100000', help: 'the largest table, from 1,000 on in tenfold steps' },
    bytes: { value: 'N', default: '300', help: 'the size of a value' },
  },
  examples: ['npm run growth -- --records 10000 --bytes 50'],
});
const HEADER = ['call', 'records', 'requests', 'bytes read', 'bytes written', 'entities', 'stored/record', 'us'];
const PUTS = 1_000;

await runCommand(GROWTH, process.argv.slice(2), growth);

async function growth({ values }: CommandLine<typeof GROWTH.options>): Promise<void> {
  const recordsMax = wholeNumber('--records', values.records, 1_000, 1e6);
  const bytes = wholeNumber('--bytes', values.bytes, 1, 500_000);
  const rows: string[][] = [];
  for (let records = 1_000; records <= recordsMax; records *= 10) rows.push(...(await rowsOf(records, bytes)));
  console.log(textTable(HEADER, rows, 1));
}

async function rowsOf(records: number, bytes: number): Promise<string[][]> {
  const state = memoryState();
  const { driver, counters } = measured(memoryDriver({ state }));
  const random = seededRandom(1);
  const anyKey = (): string => keyOf(Math.floor(random() * records));
  const value = (): string => randomText(random, bytes);
  const open = async () => openStore({ driver }).table<string>('growth', { order: 'key' });
  const table = await open();
  for (let from = 0; from < records; from += PUTS)
    await table.putMany(Array.from({ length: PUTS }, (_, at) => ({ key: keyOf(from + at), value: value() })));

  const rows: string[][] = [];
  const measure = async (name: string, calls: number, call: () => Promise<unknown>): Promise<void> => {
    const before = { ...counters };
    const { user, system } = process.cpuUsage();
    for (let made = 0; made < calls; made += 1) await call();
    const used = process.cpuUsage({ user, system });
    const per = (...names: (keyof typeof counters)[]): string =>
      (names.reduce((sum, one) => sum + counters[one] - before[one], 0) / calls).toFixed(2);
    const stored = [...state.entities.values()].flatMap(({ parts }) => [...parts.values()]);
    rows.push([
      name,
      String(records),
      per('readCalls', 'writeCalls', 'removeCalls', 'listCalls'),
      per('bytesRead'),
      per('bytesWritten'),
      String(state.entities.size),
      (stored.reduce((sum, part) => sum + part.byteLength, 0) / records).toFixed(0),
      ((used.user + used.system) / calls).toFixed(0),
    ]);
  };
  await measure('open, scan of 100', 1, async () => Array.fromAsync((await open()).scan({ limit: 100 })));
  await measure('get', PUTS, () => table.get(anyKey()));
  await measure('getMany of 100', 10, () => table.getMany(Array.from({ length: 100 }, anyKey)));
  await measure('count', 1, () => table.count());
  await measure('put', PUTS, () => table.put(anyKey(), value()));
  await measure('putMany of 1,000', 1, () =>
    table.putMany([...new Set(Array.from({ length: PUTS }, anyKey))].map((key) => ({ key, value: value() }))),
  );
  return rows;
}

function keyOf(index: number): string {
  return `k${String(index).padStart(7, '0')}`;
}
