// The tables of the experiment on container size: one for each kind of work, and the bill.
import { type Plan, rowsOf } from '../../columns.ts';
import type { Column, FigureTable } from '../../results.ts';
import type { Cells } from '../../rounds.ts';
import { type Amounts, CALLERS, columnId, type Kind, KINDS, type Place, PRICED } from './work.ts';

const TITLES: Readonly<Record<Kind, string>> = {
  load: 'Load, a record',
  put: 'A lone put',
  puts: `A put among ${CALLERS} callers`,
  get: 'A lone get, its container in memory',
  first: 'The first get of a process that knows nothing',
  scan: 'A scan of all',
};

/** Lone calls differ by the machine's noise alone. */
const CHARTED: readonly Kind[] = ['load', 'puts', 'scan'];

const LOADED = 'Records come in calls of 500, four at a time.';

function about(kind: Kind, { records }: Amounts): string {
  const table = `A table of ${records.toLocaleString('en-US')} records of 500 characters, order hash.`;
  const what: Readonly<Record<Kind, string>> = {
    load: LOADED,
    put: 'Records that are there are written anew, one after the other.',
    puts: 'Time is the whole time by the number of puts: callers wait longer.',
    get: 'The container is cached, and its version is asked for.',
    first: 'The table is opened and one record read.',
    scan: 'One figure is one scan.',
  };
  return `${table} ${what[kind]}`;
}

/** Ids of rows by size in KiB; `own` is the store's default. */
export function sizeTables(
  cells: Cells,
  where: Readonly<Record<Place, string>>,
  options: Amounts & { readonly sizesKib: readonly number[] },
): FigureTable[] {
  const plans: Plan[] = [
    ...options.sizesKib.map((kib) => ({ id: `${kib}-kib`, name: `${kib} KiB`, against: 'own' })),
    { id: 'own', name: "the driver's own limit (the default)", against: 'own', marks: [OWN_LIMITS] },
  ];
  const tables = KINDS.map((kind): FigureTable => {
    const columns = [
      ...columnsOf(kind, where, { measure: 'time', unit: 'ms', suffix: 'ms' }),
      ...columnsOf(kind, where, { measure: 'processor time of the client', unit: 'ms', suffix: 'cpu' }),
      ...columnsOf(kind, where, { measure: 'requests', unit: 'requests', suffix: 'requests' }),
    ];
    return {
      id: kind,
      title: TITLES[kind],
      about: about(kind, options),
      columns,
      rows: rowsOf(plans, columns, cells),
      charted: CHARTED.includes(kind) ? ['time'] : [],
    };
  });
  return [...tables, billTable(plans, cells, where)];
}

const OWN_LIMITS = '1,000,000 bytes in memory and on Datastore, 720,000 on Azure';

function billTable(plans: readonly Plan[], cells: Cells, where: Readonly<Record<Place, string>>): FigureTable {
  const { memory: _, ...billed } = where;
  const columns = KINDS.flatMap((kind) =>
    columnsOf(kind, billed, { measure: TITLES[kind].toLowerCase(), unit: 'dollars', suffix: 'dollars' }),
  );
  return {
    id: 'bill',
    title: 'Dollars for a million',
    about: `A million records loaded, puts, gets, scans: operations alone, as counted at the driver, at the list prices of ${PRICED}.`,
    columns,
    rows: rowsOf(plans, columns, cells),
    charted: [],
  };
}

function columnsOf(
  kind: Kind,
  where: Readonly<Partial<Record<Place, string>>>,
  { suffix, ...measure }: Pick<Column, 'measure' | 'unit'> & { readonly suffix: Parameters<typeof columnId>[2] },
): Column[] {
  return (Object.entries(where) as [Place, string][]).map(([place, name]) => ({
    ...measure,
    id: columnId(place, kind, suffix),
    era: 'now',
    where: name,
    better: 'lower',
  }));
}
