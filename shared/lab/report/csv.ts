// The report as CSV (RFC 4180): a row for each run of each cell, so that medians and intervals can
// be computed again. Units stand in the names.
import { storeCountersSchema } from '../load/cell.ts';
import { totalOf } from '../kit/provider-usage.ts';
import { coordinatesOf } from './against.ts';
import type { Report, ReportCell, ReportRun } from './report-schema.ts';

/** Numbers have a point, absent ones are empty. */
export function reportCsv({ cells, places }: Pick<Report, 'cells' | 'places'>): string {
  const rows = cells.flatMap((cell) => cell.runs.map((run) => rowOf(cell, run, places)));
  return [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((fields) => `${fields.map(fieldOf).join(',')}\r\n`)
    .join('');
}

function fieldOf(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  // A target's own words must not become a formula in a spreadsheet.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]|^ | $/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const STORE_COUNTERS = storeCountersSchema.keyof().options;

function rowOf(cell: ReportCell, run: ReportRun, places: Report['places']) {
  const { latency, usage, store, parts } = run;
  const { callers: callersPerInstance, ratePerSecond: ratePerSecondOffered, ...coordinates } = coordinatesOf(cell);
  const where = [...new Set(parts.map(({ place }) => places[place]!))];
  return {
    ...coordinates,
    callersPerInstance,
    ratePerSecondOffered,
    repetition: run.repetition,
    startedAt: run.startedAt,
    marks: run.marks.join(' '),
    recordsPerCall: cell.recordsPerCall,
    records: run.records,
    recordsPerSecond: run.recordsPerSecond,
    operations: run.operations,
    ...latency,
    failedRecords: totalOf(run.errors),
    errors: distinct(Object.entries(run.errors).map(([code, times]) => `${code}=${times}`)),
    unfinished: run.unfinished,
    recordsTotal: run.recordsTotal,
    requests: usage.requests,
    retries: usage.retries === null ? null : totalOf(usage.retries),
    billedReads: usage.billable.reads,
    billedWrites: usage.billable.writes,
    billedDeletes: usage.billable.deletes,
    bytesWritten: usage.bytesWritten,
    bytesRead: usage.bytesRead,
    processorUsPerRecord: run.processorUsPerRecord,
    conflicts: usage.conflicts,
    ...Object.fromEntries(STORE_COUNTERS.map((name) => [name, store?.[name] ?? null])),
    coldInstances: parts.filter(({ isCold }) => isCold).length,
    backends: distinct(where.map(({ backend }) => backend)),
    regions: distinct(where.map(({ region }) => region ?? 'unknown')),
    runtimes: distinct(where.map(({ runtime }) => runtime)),
  };
}

function distinct(values: readonly string[]): string {
  return [...new Set(values)].join(' ');
}
