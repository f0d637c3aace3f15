// Makes the report of a comparison: schema.ts says what it holds. Pure: the same outcome and circumstances always make the same report.
import { dollarsPerMillionRecords, type OperationPriceList, operationPriceList } from '../../cost/operations.ts';
import type { PriceList } from '../../cost/prices.ts';
import type { CellResult } from '../cell/old-cell.ts';
import { type MeasuredCell, type PlanOutcome, rateOf } from '../plan/coordinator.ts';
import type { Plan } from '../plan/old-plan.ts';
import { type Circumstances, type Report, REPORT_SCHEMA_VERSION, type ReportCell } from './old-schema.ts';
import { summaryOf } from './summary.ts';

/** What every reader of the figures has to know. */
const NOTES: readonly string[] = [
  'Emulators on one machine, not the clouds: they share its cores with the functions, have no network and no throttling. Ratios between layouts carry over better than rates; neither is a promise.',
  'Closed loop: each caller waits for its reply before the next call, so latency shows what callers saw at that throughput, not what an independent stream of arrivals would see.',
  'load: every caller hands over 500 new records a call. record: single inserts, one after another. batch: one commit of 500 on Datastore; five group transactions of 100, in parallel, on Azure. container: one putMany.',
  'read: uniformly drawn keys. record and container: one strong get a call. batch: one lookup of 500 keys a call on Datastore; Azure has no batched get, so its batch layout reads single records, as the record layout does.',
  'update: half reads, half replacements of whole records, scrambled zipfian keys (theta 0.99, as in YCSB A). record and container: one operation a call. batch: 500 operations a call on Datastore, 100 on Azure (single gets, group transactions by partition), equal keys of a call once.',
  'Latency is that of one operation as it is sent and answered: a get, a put, a lookup of 500, a commit, a group transaction, a putMany. Compare it within a workload with the call sizes above in mind.',
  'A percentile stands only where at least ten operations were slower: p50 from 20 operations on, p95 from 200, p99 from 1,000. Loads of 500 records a call make few of them in a second.',
  'Datastore baseline: five properties, the four short ones indexed, as the client does by default. Azure baseline: partition key = tenant (16), row key = the rest of the key.',
  'Retries inside the Datastore client are not visible (null). Billable operations are counted as the price list counts them, from what was sent.',
];

/** Makes the report. Of a repeated cell the run with the median throughput stands for all. */
export function reportOf(outcome: PlanOutcome, plan: Plan, list: PriceList, circumstances: Circumstances): Report {
  const prices = operationPriceList(list);
  const cells = outcome.cells.map((cell) => reportCellOf(cell, prices));
  return {
    schemaVersion: REPORT_SCHEMA_VERSION,
    ...circumstances,
    plan: { ...plan, concurrencies: [...plan.concurrencies] },
    prices: structuredClone(prices),
    cells,
    failures: [...outcome.failures],
    leftovers: [...outcome.leftovers],
    summary: summaryOf(cells),
    notes: [...NOTES],
  };
}

function reportCellOf({ runs, ...coordinates }: MeasuredCell, prices: OperationPriceList): ReportCell {
  const run = medianRun(runs);
  const { usage, recordsTotal, records, errors, unfinished, durationMs, histogram } = run;
  const { operations, p50Ms, p95Ms, p99Ms, maxMs, processorWait, processorStolen } = run;
  const billable = usage.billable.reads + usage.billable.writes + usage.billable.deletes;
  // Requests are sent in the warm-up and the drain too: the window gets its share of them.
  const share = records / recordsTotal;
  return {
    ...coordinates,
    recordsPerCall: run.recordsPerCall,
    recordsPerSecond: rounded(rateOf(run)),
    operations,
    p50Ms,
    p95Ms,
    p99Ms,
    maxMs,
    processorWait,
    processorStolen,
    errors: Object.values(errors).reduce((sum, count) => sum + count, 0),
    errorsByCode: errors,
    unfinished,
    retries: usage.retries === null ? null : Object.values(usage.retries).reduce((sum, times) => sum + times, 0),
    requests: Math.round(usage.requests * share),
    billableOperations: Math.round(billable * share),
    bytesWritten: Math.round(usage.bytesWritten * share),
    bytesRead: Math.round(usage.bytesRead * share),
    requestsPer1000Records: rounded((usage.requests / recordsTotal) * 1_000),
    billableOperationsPer1000Records: rounded((billable / recordsTotal) * 1_000),
    dollarsPerMillionRecords: dollarsPerMillionRecords(usage.billable, recordsTotal, prices.providers[run.provider]),
    records,
    durationMs: rounded(durationMs),
    repetitions: runs.map((each) => rounded(rateOf(each))),
    histogram,
  };
}

/** Of an even number the slower of the two in the middle. */
function medianRun(runs: readonly CellResult[]): CellResult {
  const byRate = [...runs].sort((one, other) => rateOf(one) - rateOf(other));
  return byRate[Math.floor((byRate.length - 1) / 2)]!;
}

/** To a hundredth. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
