// Figures that documents of 2009 and 2011 published, beside the cells that measure the same now.
import { type Layout, type Provider, PROVIDERS, type Workload } from '../kit/dimensions.ts';
import type { Figure } from '../kit/figure.ts';
import { decimal, dollars, factor } from '../kit/format.ts';
import { sum } from '../kit/numbers.ts';
import { textTable, wrapped } from '../kit/text-table.ts';
import type { Coordinates } from '../load/coordinates.ts';

const MEASURES = {
  recordsPerSecond: { title: 'records/s', format: decimal },
  dollarsPerMillionRecords: { title: '$ a million records', format: dollars },
} as const;

type Measure = keyof typeof MEASURES;

/** A cell of a finished run. */
export type MeasuredCell = Pick<Coordinates, 'provider' | 'layout' | 'workload' | 'recordBytes' | 'callers'> &
  Readonly<Record<Measure, Pick<Figure, 'median'>>>;

interface Row {
  /** As the document calls it. */
  readonly name: string;
  /** Null where the document has none: what a reader asks for beside it. */
  readonly published: number | null;
  readonly cell: readonly [Workload, Layout, callers: number, recordBytes?: number];
}

interface Table {
  readonly measure: Measure;
  /** Ratios are to the first. */
  readonly rows: readonly [Row, ...Row[]];
}

interface Published {
  readonly source: string;
  /** How the work that is measured now differs from that of the document. */
  readonly differs: string;
  readonly tables: readonly Table[];
}

/** Records a second, from the seconds that each of the document's runs took for so many. */
function rate(records: number, ...seconds: readonly number[]): number {
  return records / (sum(seconds) / seconds.length);
}

const BIG = 10_000;
const SMALL = 200;

/** By the name of the plan. */
const PUBLISHED: Readonly<Record<string, Published>> = {
  'document-b': {
    source: 'Speeding up Azure Table Storage (2): parallelism (in Japanese), 2011: C#, one small web role',
    differs:
      'Then entities of 53 characters in one partition, in group transactions of 100. Now a call hands over 100 records of 200 bytes: one group transaction on Azure, one commit on Datastore.',
    tables: [
      {
        measure: 'recordsPerSecond',
        rows: [
          {
            name: 'group transactions',
            published: rate(10_000, 17.46, 17.8, 17.53, 18.17, 17.83),
            cell: ['load', 'batch', 1],
          },
          { name: 'without group transactions', published: 5, cell: ['load', 'record', 1] },
          { name: 'in parallel', published: rate(10_000, 7.8, 6.5, 5, 6.6, 8.3), cell: ['load', 'batch', 3] },
          { name: 'over 48 connections', published: rate(10_000, 7.2, 5.1, 9.9, 5, 8.5), cell: ['load', 'batch', 10] },
          { name: 'this store', published: null, cell: ['load', 'container', 1] },
          { name: 'this store', published: null, cell: ['load', 'container', 10] },
        ],
      },
    ],
  },
  'document-c': {
    source: 'Improved Datastore performance, 2009: App Engine, Python',
    differs:
      'Then ten records of 10,000 characters or of one, and a write of their root. Now 100 records, without a root: a batch is one commit on Datastore, one group transaction on Azure.',
    tables: [
      {
        measure: 'recordsPerSecond',
        rows: [
          {
            name: 'big, one by one',
            published: rate(10, 0.316, 0.359, 0.559, 0.361, 0.331),
            cell: ['load', 'record', 1, BIG],
          },
          {
            name: 'big, in a transaction',
            published: rate(10, 0.161, 0.154, 0.367, 0.153, 0.153),
            cell: ['load', 'batch', 1, BIG],
          },
          {
            name: 'small, one by one',
            published: rate(10, 0.28, 0.541, 0.324, 0.312, 0.306),
            cell: ['load', 'record', 1, SMALL],
          },
          { name: 'small, in a transaction', published: null, cell: ['load', 'batch', 1, SMALL] },
          { name: 'big, this store', published: null, cell: ['load', 'container', 1, BIG] },
          { name: 'small, this store', published: null, cell: ['load', 'container', 1, SMALL] },
        ],
      },
    ],
  },
  'document-e': {
    source: 'Google App Engine: speed of data operations (in Russian), 2011: one instance, records of 500 characters',
    differs: 'Then a batch had 1,000 records, now 100; Azure has no batched read. Prices are of operations alone.',
    tables: [
      {
        measure: 'recordsPerSecond',
        rows: [
          { name: 'single writes', published: rate(1_000, 28), cell: ['load', 'record', 1] },
          { name: 'one batched write', published: rate(1_000, 2.5), cell: ['load', 'batch', 1] },
          { name: 'this store', published: null, cell: ['load', 'container', 1] },
        ],
      },
      {
        measure: 'recordsPerSecond',
        rows: [
          { name: 'single reads', published: rate(1_000, 8.5), cell: ['ycsb-c', 'record', 1] },
          { name: 'one batched read', published: rate(1_000, 0.4), cell: ['read-together', 'batch', 1] },
          { name: 'this store', published: null, cell: ['read-together', 'container', 1] },
        ],
      },
      {
        measure: 'dollarsPerMillionRecords',
        rows: [
          { name: 'writes, 360,000 a dollar', published: 1_000_000 / 360_000, cell: ['load', 'record', 1] },
          { name: 'reads, 2,000,000 a dollar', published: 0.5, cell: ['ycsb-c', 'record', 1] },
          { name: 'writes, this store', published: null, cell: ['load', 'container', 1] },
          { name: 'reads, this store', published: null, cell: ['ycsb-c', 'container', 1] },
        ],
      },
    ],
  },
};

interface Beside {
  readonly value: number;
  /** To the table's first row, in the same column; null where that has no figure. */
  readonly ratio: number | null;
}

/** Null where there is no figure. */
type Columns = Readonly<Record<'published' | Provider, Beside | null>>;

/** As data, for a report. */
export interface PublishedBeside extends Pick<Published, 'source' | 'differs'> {
  readonly tables: readonly {
    readonly measure: Measure;
    readonly rows: readonly (Columns & Pick<Row, 'name' | 'cell'>)[];
  }[];
}

/** What the document of a plan published, beside a run's cells; undefined for other plans. */
export function publishedBesideMeasured(plan: string, cells: readonly MeasuredCell[]): PublishedBeside | undefined {
  const document = PUBLISHED[plan];
  if (document === undefined) return undefined;
  const tables = document.tables.map(({ measure, rows }) => {
    const measured = ({ cell }: Row, provider: Provider): number | undefined =>
      cells.find((one) => one.provider === provider && isOf(one, cell))?.[measure].median;
    const [first] = rows;
    const columns = (row: Row): Columns => ({
      published: beside(row.published ?? undefined, first.published ?? undefined),
      datastore: beside(measured(row, 'datastore'), measured(first, 'datastore')),
      'azure-tables': beside(measured(row, 'azure-tables'), measured(first, 'azure-tables')),
    });
    return { measure, rows: rows.map((row) => ({ name: row.name, cell: row.cell, ...columns(row) })) };
  });
  return { ...document, tables };
}

function isOf(
  measured: MeasuredCell,
  [workload, layout, callers, recordBytes = measured.recordBytes]: Row['cell'],
): boolean {
  return (
    measured.workload === workload &&
    measured.layout === layout &&
    measured.callers === callers &&
    measured.recordBytes === recordBytes
  );
}

function beside(value: number | undefined, first: number | undefined): Beside | null {
  return value === undefined ? null : { value, ratio: first === undefined ? null : value / first };
}

/** The same for a terminal. */
export function publishedText({ source, differs, tables }: PublishedBeside): string {
  const texts = tables.map(({ measure, rows }) => {
    const { title, format } = MEASURES[measure];
    const pair = (one: Beside | null): string[] => [
      one === null ? '-' : format(one.value),
      one === null || one.ratio === null ? '-' : factor(one.ratio),
    ];
    const lines = rows.map(({ name, cell: [workload, layout, callers, recordBytes], ...columns }) => [
      name,
      `${workload}, ${layout}${recordBytes === undefined ? '' : ` of ${recordBytes} B`}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
      ...(['published', ...PROVIDERS] as const).flatMap((column) => pair(columns[column])),
    ]);
    return textTable([title, 'cell now', 'then', 'x', 'Datastore', 'x', 'Azure', 'x'], lines, 2);
  });
  const words = `${differs} Services then and machines now differ: compare the ratios (x) to a table's first row.`;
  return [`Then: ${source}`, ...texts, wrapped(words).join('\n')].join('\n\n');
}
