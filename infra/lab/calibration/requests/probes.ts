// The requests that the model has a service time for, on an account of a cloud.
import type { RequestKind } from '../../../../shared/lab/cloud/data/parameters.ts';
import type { BaselineTable } from '../../../../shared/lab/work/baseline.ts';
import { tenantEnd } from '../../../../shared/lab/work/keys.ts';
import { recordSource } from '../../../../shared/lab/work/records.ts';
import type { EntityId, EntityVersion, Part, PartName, Write } from '../../../../shared/store/index.ts';
import { type Account, DATASET } from './account.ts';

const CALL = { timeoutMs: 30_000 };
const SMALL_BYTES = 100;
const LARGE_BYTES = 256 * 1_024;
/**
 * Entities of a request of many, and of one of few where a single one makes another kind of
 * request.
 */
const [FEW, MANY] = [2, 100];

/** A kind of request, what one holds, and what is billed for it. */
export interface Probe {
  readonly name: string;
  readonly kind: RequestKind;
  readonly billed: 'reads' | 'writes' | 'deletes';
  readonly entities: number;
  readonly bytes: number;
  /** Sends the request of this number, from 0. Rejects unless all of it was done. */
  readonly send: (number: number) => Promise<void>;
}

/**
 * In the order in which they can be sent, `times` each, when `prepare` has written what they begin
 * with. No I/O.
 */
export function probesOf(
  { driver, baseline }: Account,
  times: number,
): { readonly prepare: () => Promise<void>; readonly probes: readonly Probe[] } {
  const { limits } = driver;
  const lane = (id: EntityId): string => limits.lane(id);
  const [single, large, candidates] = [ids('s', times), ids('l', times), ids('m', 100 * MANY)];
  // A key of the lane in which a listing begins.
  const lowest = candidates.map(lane).toSorted()[0];
  const many = candidates.filter((id) => lane(id) === lowest).slice(0, MANY);
  const records = Array.from({ length: MANY }, (_, at) => recordSource(1, 500)(at, 0));
  const from = records.map(({ key }) => key).toSorted()[0]!;
  const versions = new Map<EntityId, EntityVersion>();
  let table: BaselineTable;

  const write = async (writes: readonly Write[]): Promise<void> => {
    const outcomes = await driver.write(writes, CALL);
    for (const [at, one] of outcomes.entries()) if (one.kind === 'written') versions.set(writes[at]!.id, one.version);
    exactly(outcomes.filter(({ kind }) => kind === 'written').length, writes.length);
  };
  const insert = (some: readonly EntityId[], bytes: number) =>
    write(some.map((id) => ({ kind: 'insert', id, parts: [part(bytes)] })));
  const patch = (some: readonly EntityId[]) =>
    write(some.map((id) => ({ kind: 'patch', id, version: versions.get(id)!, parts: [part(SMALL_BYTES)] })));
  const read = async (some: readonly EntityId[]): Promise<void> => {
    const requests = some.map((id) => ({ id, parts: 'all' as const }));
    exactly((await driver.read(requests, CALL)).filter((one) => one !== undefined).length, some.length);
  };
  const remove = async (id: EntityId): Promise<void> => {
    const [outcome] = await driver.remove([{ id, version: versions.get(id)! }], CALL);
    exactly(Number(outcome?.kind === 'removed'), 1);
  };

  const writes = { kind: 'commit', billed: 'writes', entities: 1, bytes: SMALL_BYTES } as const;
  const reads = { ...writes, kind: 'get', billed: 'reads' } as const;
  const several = [FEW, MANY].flatMap((entities): Probe[] => {
    const some = many.slice(0, entities);
    const list = async () => exactly((await driver.list('m', undefined, entities, CALL)).ids.length, entities);
    const query = async () => exactly(await table.range(from, tenantEnd(from), entities), entities);
    const group = limits.provider === 'datastore' ? 'commit' : 'transaction';
    return [
      { ...writes, entities, name: `patch of ${entities}`, kind: group, send: () => patch(some) },
      { ...reads, entities, name: `list of ${entities}`, kind: 'list', send: list },
      { ...reads, entities, name: `query of ${entities}`, kind: 'query', send: query },
      { ...reads, entities, name: `get of ${entities}`, kind: 'getMany', send: () => read(some) },
    ];
  });
  const probes: Probe[] = [
    { ...writes, name: 'insert', send: (at) => insert([single[at]!], SMALL_BYTES) },
    { ...writes, name: 'insert of 256 KiB', bytes: LARGE_BYTES, send: (at) => insert([large[at]!], LARGE_BYTES) },
    { ...writes, name: 'conditional patch', send: (at) => patch([single[at]!]) },
    { ...reads, name: 'get', send: (at) => read([single[at]!]) },
    { ...reads, name: 'get of 256 KiB', bytes: LARGE_BYTES, send: (at) => read([large[at]!]) },
    ...several.filter(({ kind }) => kind !== 'getMany' || limits.readsMax >= MANY),
    { ...writes, name: 'remove', billed: 'deletes', send: (at) => remove(single[at]!) },
  ];
  const prepare = async (): Promise<void> => {
    await insert(many, SMALL_BYTES);
    table = await baseline.open(DATASET);
    await table.putMany(records);
  };
  return { prepare, probes };
}

function ids(prefix: string, count: number): EntityId[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}` as EntityId);
}

function part(bytes: number): Part {
  return { name: 'p0' as PartName, bytes: Buffer.alloc(bytes, 'stowage '), chunksBefore: 1 };
}

function exactly(count: number, expected: number): void {
  if (count !== expected) throw new Error(`a request did ${count} of ${expected} entities`);
}
