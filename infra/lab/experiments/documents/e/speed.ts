// Document E, first half: time, processor time and price of 1, 10, 100 and 1,000 records.
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import { dollarsPerMillionRecords, operationPriceList } from '../../../../../shared/lab/cost/operations.ts';
import { PRICES_2026_11 } from '../../../../../shared/lab/cost/prices-2026-11.ts';
import { type Measure, nowColumns, type Plan, rowsOf, thenColumn, type Where } from '../../columns.ts';
import { MODEL_NOTE, modelColumns } from '../../modelled.ts';
import { PUBLISHED } from '../../published/published.ts';
import { type Figure, figureOf, type FigureTable, NOT_PRINTED } from '../../results.ts';
import type { Cells, Variant } from '../../rounds.ts';
import { costOf } from '../../spending.ts';
import { NOTES_E, PROVIDERS } from './modelled.ts';
import { cellOf, OPERATIONS, type OperationName, type Opened } from './operations.ts';

const THEN = PUBLISHED.gae_operations_2011;
export const WHERE_THEN = 'App Engine, 2011';

/** The price list's day, for what is printed. */
const PRICED = PRICES_2026_11.date;
const PRICES = operationPriceList(PRICES_2026_11).providers;

export const NAMES: Readonly<Record<OperationName, string>> = {
  write_single: 'single writes',
  write_batch: 'one batched write',
  read_single: 'single reads',
  read_batch: 'one batched read',
  memcache: 'memcache operations',
  put: 'this store: put by put',
  putMany: 'this store: one putMany',
  get: 'this store: get by get',
  getMany: 'this store: one getMany',
};

/** Writes are set against single writes, reads against single reads. */
export const AGAINST: Readonly<Record<OperationName, OperationName>> = {
  write_single: 'write_single',
  write_batch: 'write_single',
  put: 'write_single',
  putMany: 'write_single',
  read_single: 'read_single',
  read_batch: 'read_single',
  memcache: 'read_single',
  get: 'read_single',
  getMany: 'read_single',
};

/** Work of a few records is repeated until it was so many. */
const RECORDS_MIN = 20;

/** Each operation at each number of records; a number is that of one repetition. */
export function speedVariants(
  provider: Provider,
  opened: () => Promise<Opened>,
  recordCounts: readonly number[],
): Variant[] {
  return recordCounts.flatMap((records) =>
    OPERATIONS.map((name) => ({
      row: cellOf(name, records),
      columns: ['ms', 'cpu', 'perDollar'].map((suffix) => `${provider}-${suffix}`),
      async run() {
        const operation = (await opened()).operations[name];
        const repetitions = Math.ceil(RECORDS_MIN / records);
        const cost = await costOf(operation, async () => {
          for (let done = 0; done < repetitions; done += 1) await operation.run(records);
        });
        const dollars = dollarsPerMillionRecords(cost.spent.billable, records * repetitions, PRICES[provider]);
        return {
          [`${provider}-ms`]: cost.wallMs / repetitions,
          [`${provider}-cpu`]: cost.cpuMs / repetitions,
          ...(dollars > 0 ? { [`${provider}-perDollar`]: 1_000_000 / dollars } : {}),
        };
      },
    })),
  );
}

/** The cells of one number of records, by operation. */
function cellsAt(cells: Cells, records: number): Cells {
  return new Map(OPERATIONS.map((name) => [name, cells.get(cellOf(name, records)) ?? {}]));
}

const WALL: Measure = { suffix: 'ms', measure: 'wall time', unit: 'ms', better: 'lower' };
const CPU: Measure = { suffix: 'cpu', measure: 'processor time', unit: 'ms', better: 'lower' };

export function speedTables(cells: Cells, where: Where, recordCounts: readonly number[]): FigureTable[] {
  const columns = [
    thenColumn(WALL, WHERE_THEN),
    ...nowColumns(WALL, where),
    ...modelColumns(WALL, PROVIDERS),
    thenColumn(CPU, WHERE_THEN),
    ...nowColumns(CPU, where),
  ];
  return recordCounts.map((records) => ({
    id: `speed-${records}`,
    title: records === 1 ? 'One record' : `${records.toLocaleString('en-US')} records`,
    about:
      'Wall time and processor time (then as the platform billed it, now of the client process with all of its threads) of one operation on so many records of 500 characters.',
    columns,
    rows: rowsOf(
      OPERATIONS.map((name) => ({
        ...planOf(name),
        printed: { ms: printedAt(THEN, name, records), cpu: printedAt(THEN.cpu_ms, name, records) },
      })),
      columns,
      cellsAt(cells, records),
    ),
    charted: records === recordCounts.at(-1) ? [WALL.measure, CPU.measure] : [],
    notes: records === recordCounts.at(-1) ? NOTES_E : [MODEL_NOTE],
  }));
}

function planOf(name: OperationName): Plan {
  const plan: Plan = { id: name, name: NAMES[name], against: AGAINST[name] };
  return name === 'memcache' ? { ...plan, standIn: 'get of this store within maxAgeMs, from its cache' } : plan;
}

/** Figures of then stand in the order of the numbers of records. */
function printedAt(printed: object, name: OperationName, records: number): Figure {
  const figures = (printed as Readonly<Record<string, readonly (number | null)[] | undefined>>)[name];
  const figure = figures?.[THEN.records.indexOf(records)];
  return figure === undefined || figure === null ? { missing: NOT_PRINTED } : figureOf([figure]);
}

const PER_CENT: Measure = { suffix: 'perCent', measure: 'records a cent', unit: 'records', better: 'higher' };
const PER_DOLLAR: Measure = { suffix: 'perDollar', measure: 'records a dollar', unit: 'records', better: 'higher' };
/** The document gives one price for writes and one for reads, batched or not. */
const PRICED_THEN = { write_single: 'write', read_single: 'read', memcache: 'memcache' } as const;

/** What money buys, by the operations that were billed for the largest number of records. */
export function priceTable(cells: Cells, where: Where, records: number): FigureTable {
  const columns = [PER_CENT, PER_DOLLAR].flatMap((measure) => [
    thenColumn(measure, WHERE_THEN),
    ...nowColumns(measure, where),
  ]);
  const priced = new Map(
    [...cellsAt(cells, records)].map(([name, figures]) => [name, withCents(figures, name === 'memcache')]),
  );
  const plans = OPERATIONS.map((name): Plan => {
    const then = PRICED_THEN[name as keyof typeof PRICED_THEN];
    if (then === undefined) return planOf(name);
    const printed = { perCent: figureOf([THEN.per_cent[then]]), perDollar: figureOf([THEN.per_dollar[then]]) };
    return { ...planOf(name), printed };
  });
  return {
    id: 'price',
    title: 'Records for a cent and for a dollar',
    about: `Operations as billed for ${records.toLocaleString('en-US')} records, at the list prices of ${PRICED} (Datastore: ${PRICES.datastore.region}; Azure: ${PRICES['azure-tables'].region}), without free tiers, storage, traffic and the processor.`,
    columns,
    rows: rowsOf(plans, columns, priced),
    charted: [],
  };
}

function withCents(figures: Readonly<Record<string, Figure>>, isCached: boolean): Record<string, Figure> {
  const all = Object.entries(figures).filter(([id]) => id.endsWith('-perDollar'));
  return Object.fromEntries(
    all.flatMap(([id, figure]) => {
      const shown: Figure = isCached && 'missing' in figure ? { missing: 'nothing is billed' } : figure;
      return [
        [id, shown],
        [id.replace('perDollar', 'perCent'), scaled(shown, (perDollar) => perDollar / 100)],
      ];
    }),
  );
}

function scaled(figure: Figure, scale: (run: number) => number): Figure {
  return 'runs' in figure ? figureOf(figure.runs.map(scale)) : figure;
}

/** Writes a second, beside the database that the document compares with. */
export function writesTable(cells: Cells, where: Where, records: number): FigureTable {
  const rate: Measure = { suffix: 'rate', measure: 'writes a second', unit: 'writes/s', better: 'higher' };
  const columns = [thenColumn(rate, WHERE_THEN), ...nowColumns(rate, where), ...modelColumns(rate, PROVIDERS)];
  const rateOf = (figure: Figure): Figure => scaled(figure, (ms) => (records / ms) * 1_000);
  const writes = OPERATIONS.filter((name) => AGAINST[name] === 'write_single');
  const now = [...cellsAt(cells, records)].map(([name, figures]) => {
    const times = Object.entries(figures).filter(([id]) => id.endsWith('-ms'));
    return [
      name,
      Object.fromEntries(times.map(([id, figure]) => [id.replace('-ms', '-rate'), rateOf(figure)])),
    ] as const;
  });
  const sqlServer: Plan = {
    id: 'sql-server',
    name: 'SQL Server Express on a micro virtual machine',
    against: 'write_single',
    printed: { rate: figureOf([THEN.sql_server_express_writes_per_second]) },
  };
  const plans = writes.map((name) => ({ ...planOf(name), printed: { rate: rateOf(printedAt(THEN, name, records)) } }));
  return {
    id: 'writes',
    title: 'Writes a second',
    about: `From the wall times of ${records.toLocaleString('en-US')} records; the document names a database for comparison.`,
    columns,
    rows: rowsOf([...plans, sqlServer], columns, new Map(now)),
    charted: [],
    notes: [MODEL_NOTE],
  };
}
