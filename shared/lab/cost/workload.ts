// From a workload to the quantities of a month, by layout, through the measured figures.
import type { Provider, UsersLayout } from '../kit/dimensions.ts';
import { DAYS_A_MONTH } from './bill.ts';
import type { BillableOperations } from './billable.ts';
import { type CallKind, computeQuantities, type Instance } from './compute.ts';
import { CALL_MS, CONTAINERS, SDK_BATCH_MAX, STORED_BYTES, type Verb } from './figures.ts';
import type { ProviderPrices, Quantities } from './prices.ts';

/** A table, and what is done with it on each day. */
export interface Workload {
  readonly records: number;
  /** Of a record, key and value. */
  readonly recordBytes: number;
  readonly readsPerDay: number;
  readonly writesPerDay: number;
  readonly deletesPerDay: number;
  /** Of the whole table, each in one call. */
  readonly scansPerDay: number;
}

/** How the function is called. */
export interface Calls {
  /** Records that a call reads, writes or deletes; in Azure's batch layout those of a write are of one partition. */
  readonly recordsPerCall: number;
  /** Where the records of a call lie: anywhere in the table, or beside each other in the order of their keys. */
  readonly keys: 'random' | 'together';
  /** Calls that an instance answers at a time. */
  readonly concurrency: number;
  /** How long every call takes; by CALL_MS, if undefined. */
  readonly durationMs: number | undefined;
}

/** An estimate for one provider. */
export interface Case {
  readonly provider: Provider;
  readonly workload: Workload;
  readonly calls: Calls;
}

/** What infra/gcp and infra/azure deploy for records. */
export const INSTANCE: Instance = { vcpus: 1, memoryGib: 2, concurrency: 32 };

const GIB = 2 ** 30;

/** A month's quantities of all meters that the provider has. Not counted: splits of containers, and what is sent around records. */
export function monthlyQuantities(layout: UsersLayout, one: Case, prices: ProviderPrices): Quantities {
  const { workload, provider, calls } = one;
  const perDay = {
    ...operationsOf(layout, one),
    ...computeQuantities(callKinds(layout, one), { ...INSTANCE, concurrency: calls.concurrency }, prices),
    egressGib: (returnedRecords(workload) * workload.recordBytes) / GIB,
  };
  const perMonth = Object.entries(perDay).map(([meter, quantity]) => [meter, quantity * DAYS_A_MONTH]);
  return { ...Object.fromEntries(perMonth), storageGib: storedBytes(layout, provider, workload) / GIB };
}

/** Billed operations of a workload's day. */
export function operationsOf(layout: UsersLayout, one: Case): BillableOperations {
  const { readsPerDay, writesPerDay, deletesPerDay, scansPerDay, records } = one.workload;
  if (layout === 'container') return containerOperations(one);
  const most = SDK_BATCH_MAX[one.provider];
  const { recordsPerCall } = one.calls;
  const perRecord = (many: number) => (layout === 'batch' ? Math.ceil(recordsPerCall / many) / recordsPerCall : 1);
  return {
    reads: readsPerDay * perRecord(most.read) + scansPerDay * Math.ceil(records / most.scan),
    writes: writesPerDay * perRecord(most.write),
    deletes: deletesPerDay * perRecord(most.write),
  };
}

/** Every container that a call touches is read or written once; a delete writes its container. */
function containerOperations({ provider, workload, calls }: Case): BillableOperations {
  const { readsPerDay, writesPerDay, deletesPerDay, scansPerDay } = workload;
  const containers = containersOf(provider, workload);
  const touched = containersTouched(containers, workload.records, calls) / calls.recordsPerCall;
  const writes = (writesPerDay + deletesPerDay) * touched;
  const { readsAGet, readsAPut } = CONTAINERS;
  return {
    reads: readsPerDay * touched * readsAGet + writes * readsAPut + scansPerDay * containers,
    writes,
    deletes: 0,
  };
}

/** Containers that a table fills. */
export function containersOf(provider: Provider, workload: Workload): number {
  return Math.max(1, Math.ceil(storedBytes('container', provider, workload) / CONTAINERS.storedBytes));
}

/** In how many of a table's `containers` the records of a call lie, on average. */
export function containersTouched(containers: number, records: number, { recordsPerCall, keys }: Calls): number {
  if (keys === 'random') return containers * -Math.expm1(recordsPerCall * Math.log1p(-1 / containers));
  return Math.min(containers, 1 + ((recordsPerCall - 1) * containers) / records);
}

function storedBytes(layout: UsersLayout, provider: Provider, { records, recordBytes }: Workload): number {
  const { fixed, factor } = STORED_BYTES[layout === 'container' ? 'container' : 'entity'][provider];
  return records * (fixed + factor * recordBytes);
}

function callKinds(layout: UsersLayout, { provider, workload, calls }: Case): CallKind[] {
  const { recordsPerCall } = calls;
  const kind = (verb: Verb, callsPerDay: number, records: number): CallKind => {
    const { first, further } = CALL_MS[provider][layout][verb];
    return { callsPerDay, durationMs: calls.durationMs ?? first + (records - 1) * further };
  };
  return [
    kind('get', workload.readsPerDay / recordsPerCall, recordsPerCall),
    kind('put', (workload.writesPerDay + workload.deletesPerDay) / recordsPerCall, recordsPerCall),
    kind('scan', workload.scansPerDay, workload.records),
  ];
}

function returnedRecords({ records, readsPerDay, scansPerDay }: Workload): number {
  return readsPerDay + scansPerDay * records;
}
