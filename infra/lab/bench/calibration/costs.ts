// From measured loads to the table that a modelled instance is charged by. The engine's own share comes from loads on the memory driver;
// then the requests, entities and bytes of each provider's loads explain what is left.
import { median } from '../../../../shared/lab/kit/median.ts';
import {
  BUSY_IN_FLIGHT,
  type BatchCost,
  type ContainerCosts,
  type Cost,
  costAt,
  lonelinessAt,
  type MeasuredLoad,
  type ProcessorCosts,
  type RecordCosts,
} from '../../../../shared/lab/cloud/data/processor.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import type { DriverUse } from './counted.ts';
import { costOf, fitCosts, type Row } from './fit.ts';

/** Where a load was run. */
export type Backend = Provider | 'memory';

/** What a load did: single records or the SDK's batches by the plain SDK, or operations of this store. */
export type LoadKind =
  | { readonly layout: 'record'; readonly verb: keyof RecordCosts }
  | { readonly layout: 'batch'; readonly verb: 'read' | 'write'; readonly records: number }
  | { readonly layout: 'container'; readonly verb: keyof ContainerCosts['operation']; readonly size: string };

/** A load with its rounds: microseconds an operation in each, and what an operation used at the driver on average. */
export interface Measured {
  readonly backend: Backend;
  readonly kind: LoadKind;
  readonly inFlight: number;
  readonly rounds: readonly number[];
  /** Of the container layout. */
  readonly use: DriverUse | undefined;
}

/** The lonely ones are what a lone operation or request costs beside a busy one. */
const OPERATION = [
  'get',
  'lonelyGet',
  'put',
  'lonelyPut',
  'update',
  'lonelyUpdate',
  'getManyRecord',
  'putManyRecord',
] as const;
const REQUEST = ['reads', 'writes', 'entitiesRead', 'entitiesWritten', 'kibRead', 'kibWritten'] as const;
const LONELY = { get: 'lonelyGet', put: 'lonelyPut', update: 'lonelyUpdate' } as const;

type OperationName = (typeof OPERATION)[number];
type RequestName = (typeof REQUEST)[number];

/**
 * What a busy request costs of a lone one. Not fitted: this store has few requests in flight however many callers it has, so its loads hardly tell.
 * It is the transport's, and taken from the plain SDK's single gets and replacements.
 */
interface BusyShares {
  readonly read: number;
  readonly write: number;
}

/** Without a transport a request costs what it costs. */
const NO_TRANSPORT: BusyShares = { read: 1, write: 1 };

/** The costs of one provider's client, and the loads beside what the costs make of them. The memory driver's loads have to be among them. */
export function costsOf(
  provider: Provider,
  loads: readonly Measured[],
): { readonly costs: ProcessorCosts; readonly loads: readonly MeasuredLoad[] } {
  const own = loads.filter(({ backend }) => backend === provider);
  const engine = engineCosts(loads);
  const record = recordCosts(own);
  const shares = { read: busyShare(record.get), write: busyShare(record.replace) };
  const requests = requestCosts(engine, own, shares);
  const batch = {
    read: hasBatchedRead(own) ? batchCost('read', own) : { request: record.get.busy, record: 0 },
    write: batchCost('write', own),
  };
  const costs = { record, batch, container: containerCosts(engine, requests, shares) };
  const all = { ...engine, ...requests };
  return {
    costs,
    loads: own.map((load) => asMeasured(load, plainCost(load, costs) ?? costOf(all, countsOf(load, shares)))),
  };
}

/** The loads on the memory driver beside what the engine's costs make of them. */
export function engineLoads(loads: readonly Measured[]): MeasuredLoad[] {
  const engine = engineCosts(loads);
  return loads
    .filter(({ backend }) => backend === 'memory')
    .map((load) => asMeasured(load, costOf(engine, countsOf(load, NO_TRANSPORT))));
}

function engineCosts(loads: readonly Measured[]): Record<OperationName | RequestName, number> {
  const rows = loads.filter(({ backend }) => backend === 'memory').map((load) => rowOf(load, NO_TRANSPORT));
  return fitCosts([...OPERATION, ...REQUEST], rows);
}

function requestCosts(
  engine: Record<OperationName, number>,
  own: readonly Measured[],
  shares: BusyShares,
): Record<RequestName, number> {
  const rows = own
    .filter(({ kind }) => kind.layout === 'container')
    .map((load) => ({ ...rowOf(load, shares), explained: costOf<OperationName>(engine, operationCounts(load)) }));
  return fitCosts(REQUEST, rows);
}

function busyShare({ alone, busy }: Cost): number {
  return Math.min(1, busy / alone);
}

function rowOf(load: Measured, shares: BusyShares): Row<OperationName | RequestName> {
  return { counts: countsOf(load, shares), microseconds: median(load.rounds) };
}

/** Requests count as so many lone ones: a busy one is a share of a lone one. */
function countsOf(load: Measured, { read, write }: BusyShares): Partial<Record<OperationName | RequestName, number>> {
  const operation = operationCounts(load);
  if (load.use === undefined) return operation;
  const { reads, lonelyReads, writes, lonelyWrites, ...sizes } = load.use;
  return {
    ...operation,
    ...sizes,
    reads: asLone(reads, lonelyReads, read),
    writes: asLone(writes, lonelyWrites, write),
  };
}

function asLone(count: number, lonely: number, share: number): number {
  return share * count + (1 - share) * lonely;
}

/** One operation, lonely among so many callers. */
function operationCounts({ kind, inFlight }: Measured): Partial<Record<OperationName, number>> {
  if (kind.layout !== 'container') return {};
  if (kind.verb === 'getManyRecord' || kind.verb === 'putManyRecord') return { [kind.verb]: 1 };
  return { [kind.verb]: 1, [LONELY[kind.verb]]: lonelinessAt(inFlight) };
}

function containerCosts(
  engine: Record<OperationName, number>,
  requests: Record<RequestName, number>,
  shares: BusyShares,
): ContainerCosts {
  return {
    operation: {
      get: withLonely(engine.get, engine.lonelyGet),
      put: withLonely(engine.put, engine.lonelyPut),
      update: withLonely(engine.update, engine.lonelyUpdate),
      getManyRecord: engine.getManyRecord,
      putManyRecord: engine.putManyRecord,
    },
    request: {
      read: { alone: requests.reads, busy: requests.reads * shares.read },
      write: { alone: requests.writes, busy: requests.writes * shares.write },
    },
    entity: { read: requests.entitiesRead, written: requests.entitiesWritten },
    kib: { read: requests.kibRead, written: requests.kibWritten },
  };
}

function withLonely(busy: number, more: number): Cost {
  return { alone: busy + more, busy };
}

/** Not by least squares: the two loads that a cost consists of were measured. */
function recordCosts(own: readonly Measured[]): RecordCosts {
  const measured = (verb: keyof RecordCosts, callers: number): number => {
    const load = own.find(
      ({ kind, inFlight }) => kind.layout === 'record' && kind.verb === verb && inFlight === callers,
    );
    return median(load?.rounds ?? []);
  };
  const at = (verb: keyof RecordCosts): Cost => ({ alone: measured(verb, 1), busy: measured(verb, BUSY_IN_FLIGHT) });
  return { get: at('get'), insert: at('insert'), replace: at('replace'), conditional: at('conditional') };
}

function hasBatchedRead(own: readonly Measured[]): boolean {
  return own.some(({ kind }) => kind.layout === 'batch' && kind.verb === 'read');
}

function batchCost(verb: 'read' | 'write', own: readonly Measured[]): BatchCost {
  const rows = own.flatMap(({ kind, rounds }) =>
    kind.layout === 'batch' && kind.verb === verb
      ? [{ counts: { request: 1 / kind.records, record: 1 }, microseconds: median(rounds) }]
      : [],
  );
  return fitCosts(['request', 'record'], rows);
}

/** By the table; undefined for this store's loads. */
function plainCost(
  { kind, inFlight }: Measured,
  { record, batch }: Pick<ProcessorCosts, 'record' | 'batch'>,
): number | undefined {
  if (kind.layout === 'record') return costAt(record[kind.verb], inFlight);
  if (kind.layout === 'batch') return batch[kind.verb].request / kind.records + batch[kind.verb].record;
  return undefined;
}

function asMeasured({ backend, kind, inFlight, rounds }: Measured, fitted: number): MeasuredLoad {
  return {
    load: `${backend} ${nameOf(kind)}`,
    inFlight,
    median: Math.round(median(rounds)),
    lowest: Math.round(Math.min(...rounds)),
    highest: Math.round(Math.max(...rounds)),
    fitted: Math.round(fitted),
  };
}

/** A load in words, the same for the same load. */
function nameOf(kind: LoadKind): string {
  if (kind.layout === 'record') return `record ${kind.verb}`;
  if (kind.layout === 'batch') return `batch ${kind.verb} of ${kind.records}`;
  return `${kind.verb}, ${kind.size}`;
}
