// Figures that documents of 2009 and 2011 published, beside the cells that measure the same now.
import { type Layout, type Provider, PROVIDERS, type Workload } from '../kit/dimensions.ts';
import type { Figure } from '../kit/figure.ts';
import { decimal, dollars, factor, textTable, wrapped } from '../kit/figure-format.ts';
import { sum } from '../kit/numbers.ts';
import type { Coordinates } from '../load/cell.ts';

const MEASURES = {
  recordsPerSecond: { title: 'records/s', format: decimal },
  dollarsPerMillionRecords: { title: '$ per million records', format: dollars },
} as const;

type Measure = keyof typeof MEASURES;

/** A cell of a finished run. */
type MeasuredCell = Pick<Coordinates, 'provider' | 'layout' | 'workload' | 'recordBytes' | 'callers'> &
  Readonly<Record<Measure, Pick<Figure, 'median'>>>;

/**
 * The document's name for the row, its figure, and the cell that measures the same now. The figure
 * is null where the document has none, in rows that a reader asks for beside the others.
 */
type Row = readonly [
  name: string,
  published: number | null,
  cell: readonly [Workload, Layout, callers: number, recordBytes?: number],
];

interface Table {
  readonly measure: Measure;
  /** Ratios are to the first row. */
  readonly rows: readonly [Row, ...Row[]];
}

interface Published {
  readonly source: string;
  /** How the work that is measured now differs from that of the document. */
  readonly differs: string;
  readonly tables: readonly Table[];
}

/** Records per second, from the seconds that each of the document's runs took for so many. */
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
          ['group transactions', rate(10_000, 17.46, 17.8, 17.53, 18.17, 17.83), ['load', 'batch', 1]],
          ['without group transactions', 5, ['load', 'record', 1]],
          ['in parallel', rate(10_000, 7.8, 6.5, 5, 6.6, 8.3), ['load', 'batch', 3]],
          ['over 48 connections', rate(10_000, 7.2, 5.1, 9.9, 5, 8.5), ['load', 'batch', 10]],
          ['this store', null, ['load', 'container', 1]],
          ['this store', null, ['load', 'container', 10]],
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
          ['big, one by one', rate(10, 0.316, 0.359, 0.559, 0.361, 0.331), ['load', 'record', 1, BIG]],
          ['big, in a transaction', rate(10, 0.161, 0.154, 0.367, 0.153, 0.153), ['load', 'batch', 1, BIG]],
          ['small, one by one', rate(10, 0.28, 0.541, 0.324, 0.312, 0.306), ['load', 'record', 1, SMALL]],
          ['small, in a transaction', null, ['load', 'batch', 1, SMALL]],
          ['big, this store', null, ['load', 'container', 1, BIG]],
          ['small, this store', null, ['load', 'container', 1, SMALL]],
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
          ['single writes', rate(1_000, 28), ['load', 'record', 1]],
          ['one batched write', rate(1_000, 2.5), ['load', 'batch', 1]],
          ['this store', null, ['load', 'container', 1]],
        ],
      },
      {
        measure: 'recordsPerSecond',
        rows: [
          ['single reads', rate(1_000, 8.5), ['ycsb-c', 'record', 1]],
          ['one batched read', rate(1_000, 0.4), ['read-together', 'batch', 1]],
          ['this store', null, ['read-together', 'container', 1]],
        ],
      },
      {
        measure: 'dollarsPerMillionRecords',
        rows: [
          ['writes, 360,000 per dollar', 1_000_000 / 360_000, ['load', 'record', 1]],
          ['reads, 2,000,000 per dollar', 0.5, ['ycsb-c', 'record', 1]],
          ['writes, this store', null, ['load', 'container', 1]],
          ['reads, this store', null, ['ycsb-c', 'container', 1]],
        ],
      },
    ],
  },
};

const HEADER = ['cell now', 'then', 'x', 'Datastore', 'x', 'Azure', 'x'];

/** What the document of a plan published, beside a run's cells; empty for other plans. */
export function publishedText(plan: string, cells: readonly MeasuredCell[]): string {
  const document = PUBLISHED[plan];
  if (document === undefined) return '';
  const { source, differs, tables } = document;
  const words = `${differs} Services then and machines now differ: compare the ratios (x) to a table's first row.`;
  return [`Then: ${source}`, ...tables.map((table) => tableText(table, cells)), wrapped(words).join('\n')].join('\n\n');
}

function tableText({ measure, rows }: Table, cells: readonly MeasuredCell[]): string {
  const { title, format } = MEASURES[measure];
  const figureOf = ([, published, cell]: Row, column: 'published' | Provider): number | null =>
    column === 'published' ? published : (measuredCell(cells, column, cell)?.[measure].median ?? null);
  const lines = rows.map((row) => {
    const [name, , [workload, layout, callers, recordBytes]] = row;
    const size = recordBytes === undefined ? '' : ` of ${recordBytes} B`;
    const columns = (['published', ...PROVIDERS] as const).flatMap((column) => {
      const [own, first] = [figureOf(row, column), figureOf(rows[0], column)];
      return [own === null ? '-' : format(own), own === null || first === null ? '-' : factor(own / first)];
    });
    return [name, `${workload}, ${layout}${size}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`, ...columns];
  });
  return textTable([title, ...HEADER], lines, 2);
}

function measuredCell(
  cells: readonly MeasuredCell[],
  provider: Provider,
  [workload, layout, callers, recordBytes]: Row[2],
): MeasuredCell | undefined {
  return cells.find(
    (one) =>
      one.provider === provider &&
      one.workload === workload &&
      one.layout === layout &&
      one.callers === callers &&
      (recordBytes === undefined || one.recordBytes === recordBytes),
  );
}
