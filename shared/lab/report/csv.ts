// The report as CSV (RFC 4180): a row for each run of each cell, so that medians and intervals can
// be computed again. Units stand in the names.
import type { Report, ReportCell, ReportRun } from './schema.ts';

/** The whole text; numbers with a point, absent ones empty. */
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

function rowOf(cell: ReportCell, run: ReportRun, places: Report['places']) {
  const { latency, usage, store, parts } = run;
  const where = [...new Set(parts.map(({ place }) => places[place]!))];
  return {
    provider: cell.provider,
    layout: cell.layout,
    workload: cell.workload,
    recordBytes: cell.recordBytes,
    containerKib: cell.containerKib,
    instances: cell.instances,
    callersPerInstance: cell.callers,
    ratePerSecondOffered: cell.ratePerSecond,
    repetition: run.repetition,
    startedAt: run.startedAt,
    isSound: run.isSound,
    recordsPerCall: cell.recordsPerCall,
    records: run.records,
    recordsPerSecond: run.recordsPerSecond,
    operations: run.operations,
    ...latency,
    failedRecords: total(run.errors),
    errors: codes(run.errors),
    unfinished: run.unfinished,
    recordsTotal: run.recordsTotal,
    requests: usage.requests,
    retries: usage.retries === null ? null : total(usage.retries),
    billedReads: usage.billable.reads,
    billedWrites: usage.billable.writes,
    billedDeletes: usage.billable.deletes,
    bytesWritten: usage.bytesWritten,
    bytesRead: usage.bytesRead,
    conflicts: usage.conflicts,
    commits: store?.commits ?? null,
    foreignCommits: store?.foreignCommits ?? null,
    readsFirst: store?.readsFirst ?? null,
    rests: store?.rests ?? null,
    splits: store?.splits ?? null,
    splitsByTraffic: store?.splitsByTraffic ?? null,
    lostSplits: store?.lostSplits ?? null,
    coldInstances: parts.filter(({ isCold }) => isCold).length,
    backends: distinct(where.map(({ backend }) => backend)),
    regions: distinct(where.map(({ region }) => region ?? 'unknown')),
    runtimes: distinct(where.map(({ runtime }) => runtime)),
  };
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, times) => sum + times, 0);
}

function codes(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([code, times]) => `${code}=${times}`)
    .join(' ');
}

function distinct(values: readonly string[]): string {
  return [...new Set(values)].join(' ');
}
