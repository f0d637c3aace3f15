// From a workload to the quantities of a month, by layout, through the measured figures.
import type { Provider, UsersLayout } from '../kit/dimensions.ts';
import { DAYS_A_MONTH } from './bill.ts';
import type { BillableOperations } from './billable.ts';
import { type CallKind, callsInFlight, computeQuantities, type Instance, instancesFor } from './compute.ts';
import { CALL_MS, CONTAINERS, SDK_BATCH_MAX, STORED_BYTES, type Verb } from './figures.ts';
import type { ProviderPrices, Quantities } from './prices.ts';

/** A table, and what is done with it on each day. */
export interface Workload {
  readonly records: number;
  readonly recordBytes: number;
  readonly readsPerDay: number;
  readonly writesPerDay: number;
  readonly deletesPerDay: number;
  /** Scans of the whole table, each in one call. */
  readonly scansPerDay: number;
}

/** How the function is called. */
export interface Calls {
  /** Records that a call reads, writes or deletes; writes are of one Azure partition. */
  readonly recordsPerCall: number;
  /** Anywhere in the table, or beside each other in the order of their keys. */
  readonly keys: 'random' | 'together';
  readonly concurrency: number;
  /** Instances that write at a time; as few as take the calls, if undefined. */
  readonly instances: number | undefined;
  /** How long every call takes; by CALL_MS, if undefined. */
  readonly durationMs: number | undefined;
}

export interface Case {
  readonly provider: Provider;
  readonly workload: Workload;
  readonly calls: Calls;
}

/** The instance that infra/gcp and infra/azure deploy for records. */
export const INSTANCE: Instance = { vcpus: 1, memoryGib: 2, concurrency: 32 };

const GIB = 2 ** 30;

/** All meters of the provider. Splits, and what is sent around records, are not counted. */
export function monthlyQuantities(layout: UsersLayout, one: Case, prices: ProviderPrices): Quantities {
  const { workload, provider, calls } = one;
  const returned = workload.readsPerDay + workload.scansPerDay * workload.records;
  const perDay = {
    ...operationsOf(layout, one),
    ...computeQuantities(callKinds(layout, one), { ...INSTANCE, concurrency: calls.concurrency }, prices),
    egressGib: (returned * workload.recordBytes) / GIB,
  };
  const perMonth = Object.entries(perDay).map(([meter, quantity]) => [meter, quantity * DAYS_A_MONTH]);
  return { ...Object.fromEntries(perMonth), storageGib: storedBytes(layout, provider, workload) / GIB };
}

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

/** Every container that a call touches is read or written; a delete writes its container. */
function containerOperations(one: Case): BillableOperations {
  const { provider, workload, calls } = one;
  const kinds = callKinds('container', one);
  const writers = callsInFlight(kinds.filter(({ verb }) => verb === 'put'));
  const least = containersOf(provider, workload);
  const touchedBy = (containers: number): number => containersTouched(containers, workload.records, calls);
  // Puts that meet have split the containers: then fewer meet.
  const split = Math.min(workload.records, Math.ceil((writers * touchedBy(least)) / CONTAINERS.crowdMax));
  const containers = Math.max(least, split);
  const touched = touchedBy(containers);
  const instances = calls.instances ?? instancesFor(kinds, calls.concurrency);
  const put = operationsAPut(instances, writers * touched, containers);
  const gets = (workload.readsPerDay * touched) / calls.recordsPerCall;
  const puts = ((workload.writesPerDay + workload.deletesPerDay) * touched) / calls.recordsPerCall;
  return {
    reads: gets * readsAGet(containers) + puts * put.reads + workload.scansPerDay * containers,
    writes: puts * put.writes,
    deletes: 0,
  };
}

export function containersOf(provider: Provider, workload: Workload): number {
  return Math.max(1, Math.ceil(storedBytes('container', provider, workload) / CONTAINERS.storedBytes));
}

/** One for the version, one more for an unknown header. Gets that share a read are not counted. */
function readsAGet(containers: number): number {
  return 1 + unknownShare(containers);
}

/**
 * Operations of a put of one container. A lone instance writes from memory; beside others it reads
 * first, and repeats refused writes. `inFlight`: containers that all write at a moment.
 */
export function operationsAPut(
  instances: number,
  inFlight: number,
  containers: number,
): Pick<BillableOperations, 'reads' | 'writes'> {
  if (instances === 1) return { reads: unknownShare(containers), writes: 1 };
  const othersShare = (instances - 1) / instances;
  const refused = Math.min(CONTAINERS.crowdMax, (othersShare * inFlight) / containers);
  return { reads: CONTAINERS.looksAPut + refused, writes: 1 + refused };
}

/** How likely a call meets a container whose header is not in memory. */
function unknownShare(containers: number): number {
  return Math.max(0, 1 - CONTAINERS.known / containers);
}

/** Containers touched by a call, on average, if each of the table is as likely as another. */
export function containersTouched(containers: number, records: number, { recordsPerCall, keys }: Calls): number {
  if (keys === 'random') return containers * -Math.expm1(recordsPerCall * Math.log1p(-1 / containers));
  return Math.min(containers, 1 + ((recordsPerCall - 1) * containers) / records);
}

function storedBytes(layout: UsersLayout, provider: Provider, { records, recordBytes }: Workload): number {
  const { fixed, factor } = STORED_BYTES[layout === 'container' ? 'container' : 'entity'][provider];
  return records * (fixed + factor * recordBytes);
}

function callKinds(layout: UsersLayout, { provider, workload, calls }: Case): (CallKind & { readonly verb: Verb })[] {
  const { recordsPerCall } = calls;
  const kind = (verb: Verb, callsPerDay: number, records: number) => {
    const { first, further } = CALL_MS[provider][layout][verb];
    return { verb, callsPerDay, durationMs: calls.durationMs ?? first + (records - 1) * further };
  };
  return [
    kind('get', workload.readsPerDay / recordsPerCall, recordsPerCall),
    kind('put', (workload.writesPerDay + workload.deletesPerDay) / recordsPerCall, recordsPerCall),
    kind('scan', workload.scansPerDay, workload.records),
  ];
}
