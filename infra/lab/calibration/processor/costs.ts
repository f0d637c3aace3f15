// From measured loads to the table of processor time. Loads on the memory driver give the engine's
// share; requests, entities and bytes explain the rest.
import {
  type BatchCost,
  BUSY_IN_FLIGHT,
  type ContainerCosts,
  type Cost,
  costAt,
  lonelinessAt,
  type ProcessorCosts,
  type RecordCosts,
} from '../../../../shared/lab/cloud/data/processor.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import { median } from '../../../../shared/lab/kit/numbers.ts';
import type { DriverUse } from './counted.ts';
import { costOf, fitCosts, type Row } from './fit.ts';

export type Backend = Provider | 'memory';

/** The kind of a load: single records or batches by the plain SDK, or operations of this store. */
export type LoadKind =
  | { readonly layout: 'record'; readonly verb: keyof RecordCosts }
  | { readonly layout: 'batch'; readonly verb: 'read' | 'write'; readonly records: number }
  | { readonly layout: 'container'; readonly verb: Verb };

/** Microseconds an operation in each round, and what an operation used at the driver. */
export interface Measured {
  readonly backend: Backend;
  readonly kind: LoadKind;
  readonly inFlight: number;
  readonly rounds: readonly number[];
  /** Given for the container layout alone. */
  readonly use: DriverUse | undefined;
}

/** Microseconds an operation, or a record of many: as measured, and by the table. */
export interface MeasuredLoad {
  readonly median: number;
  readonly fitted: number;
}

type Verb = keyof ContainerCosts['operation'];
/** A lone operation has a name of its own: its cost beside a busy one. */
type OperationName = Verb | `lone ${Verb}`;

const VERBS: readonly Verb[] = ['get', 'put', 'update', 'getManyRecord', 'putManyRecord'];
const OPERATION = VERBS.flatMap((verb): OperationName[] => [verb, `lone ${verb}`]);
const REQUEST = ['reads', 'writes', 'entitiesRead', 'entitiesWritten', 'kibRead', 'kibWritten'] as const;

type Counts = Record<OperationName | (typeof REQUEST)[number], number>;

/** A busy request's share of a lone one's cost, by the plain SDK: this store has too few. */
interface BusyShares {
  readonly read: number;
  readonly write: number;
}

/** Without a transport a request costs what it costs. */
const NO_TRANSPORT: BusyShares = { read: 1, write: 1 };

/** One provider's costs, and its loads by them. The memory driver's loads have to be there. */
export function costsOf(
  provider: Provider,
  loads: readonly Measured[],
): { readonly costs: ProcessorCosts; readonly loads: readonly MeasuredLoad[] } {
  const own = loads.filter(({ backend }) => backend === provider);
  const engine = engineCosts(loads);
  const record = recordCosts(own);
  const shares = { read: busyShare(record.get), write: busyShare(record.replace) };
  const containers = own.filter(({ kind }) => kind.layout === 'container');
  const rows = containers.map((load) => ({ ...rowOf(load, shares), explained: costOf(engine, operationCounts(load)) }));
  const requests = fitCosts(REQUEST, rows);
  // A provider without a batched read has single gets.
  const read = batchCost('read', own) ?? { request: record.get.busy, record: 0 };
  const batch = { read, write: batchCost('write', own)! };
  const operation = (verb: Verb): Cost => ({ alone: engine[verb] + engine[`lone ${verb}`], busy: engine[verb] });
  const container: ContainerCosts = {
    operation: {
      get: operation('get'),
      put: operation('put'),
      update: operation('update'),
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
  const fitted = (load: Measured): number => {
    const { kind, inFlight } = load;
    if (kind.layout === 'record') return costAt(record[kind.verb], inFlight);
    if (kind.layout === 'batch') return batch[kind.verb].request / kind.records + batch[kind.verb].record;
    return costOf({ ...engine, ...requests }, countsOf(load, shares));
  };
  return {
    costs: { record, batch, container },
    loads: own.map((load) => ({ median: median(load.rounds), fitted: fitted(load) })),
  };
}

/** The loads on the memory driver beside what the engine's costs make of them. */
export function engineLoads(loads: readonly Measured[]): MeasuredLoad[] {
  const engine = engineCosts(loads);
  const own = loads.filter(({ backend }) => backend === 'memory');
  return own.map((load) => ({ median: median(load.rounds), fitted: costOf(engine, countsOf(load, NO_TRANSPORT)) }));
}

function engineCosts(loads: readonly Measured[]): Counts {
  const own = loads.filter(({ backend }) => backend === 'memory');
  return fitCosts<keyof Counts>(
    [...OPERATION, ...REQUEST],
    own.map((load) => rowOf(load, NO_TRANSPORT)),
  );
}

function busyShare({ alone, busy }: Cost): number {
  return Math.min(1, busy / alone);
}

function rowOf(load: Measured, shares: BusyShares): Row<keyof Counts> {
  return { counts: countsOf(load, shares), microseconds: median(load.rounds) };
}

/** Requests count as so many lone ones: a busy one is a share of a lone one. */
function countsOf(load: Measured, { read, write }: BusyShares): Partial<Counts> {
  const operation = operationCounts(load);
  if (load.use === undefined) return operation;
  const { reads, lonelyReads, writes, lonelyWrites, ...sizes } = load.use;
  return {
    ...operation,
    ...sizes,
    reads: read * reads + (1 - read) * lonelyReads,
    writes: write * writes + (1 - write) * lonelyWrites,
  };
}

/** One operation, lonely among so many callers; a record of many is not. */
function operationCounts({ kind, inFlight }: Measured): Partial<Counts> {
  if (kind.layout !== 'container') return {};
  const loneliness = kind.verb.endsWith('Record') ? 0 : lonelinessAt(inFlight);
  return { [kind.verb]: 1, [`lone ${kind.verb}`]: loneliness };
}

/** Not by least squares: the two loads that a cost consists of were measured. */
function recordCosts(own: readonly Measured[]): RecordCosts {
  const at = (verb: keyof RecordCosts): Cost => {
    const loads = own.filter(({ kind }) => kind.layout === 'record' && kind.verb === verb);
    const [alone, busy] = [1, BUSY_IN_FLIGHT].map((callers) =>
      median(loads.find(({ inFlight }) => inFlight === callers)?.rounds ?? []),
    );
    return { alone: alone!, busy: busy! };
  };
  return { get: at('get'), insert: at('insert'), replace: at('replace'), conditional: at('conditional') };
}

/** Undefined without such loads. */
function batchCost(verb: 'read' | 'write', own: readonly Measured[]): BatchCost | undefined {
  const rows = own.flatMap(({ kind, rounds }) =>
    kind.layout === 'batch' && kind.verb === verb
      ? [{ counts: { request: 1 / kind.records, record: 1 }, microseconds: median(rounds) }]
      : [],
  );
  return rows.length === 0 ? undefined : fitCosts(['request', 'record'], rows);
}
