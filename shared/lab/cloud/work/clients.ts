// A client for each layout, on each instance one: it turns an operation into the requests that the layout's users send, and lets the instance's
// processor pay for it.
import { LOAD_RECORDS_PER_CALL } from '../../work/workloads.ts';
import { chunks } from '../../kit/chunks.ts';
import type { Table } from '../../../store/index.ts';
import { type BatchCosts, type Cost, costAt, type ProcessorCosts } from '../data/processor.ts';
import type { Instance } from '../instance/instance.ts';
import type { PlainTable } from '../service/plain.ts';
import type { ModelLayout } from './dimensions.ts';
import type { Operation } from './operations.ts';
import type { ValueSource } from './values.ts';

/** Rejects with what went wrong. */
export type Client = (operation: Operation) => Promise<void>;

/** The key of a record. */
export type KeySource = (index: number) => string;

/** A record that should be there is not. */
class AbsentError extends Error {
  readonly code = 'absent';
}

const FREE: Cost = { alone: 0, busy: 0 };
const FREE_BATCH: BatchCosts['write'] = { request: 0, record: 0 };

export interface PlainClientOptions {
  readonly layout: Exclude<ModelLayout, 'container'>;
  readonly table: PlainTable;
  readonly instance: Instance;
  readonly keyOf: KeySource;
  readonly recordBytes: number;
  /** Undefined: the processor costs nothing. */
  readonly costs: ProcessorCosts | undefined;
}

/** The provider's own way: one entity a record. */
export function plainClient({ layout, table, instance, keyOf, recordBytes, costs }: PlainClientOptions): Client {
  const single = costs?.record;
  const batched = costs?.batch.write ?? FREE_BATCH;
  const at = (cost: Cost = FREE): number => costAt(cost, instance.inFlight);
  const itemOf = (index: number) => {
    const key = keyOf(index);
    return { key, bytes: key.length + recordBytes };
  };

  async function conditional({ key, bytes }: { key: string; bytes: number }): Promise<void> {
    const cost = at(single?.conditional);
    const conflicts = await charged(instance, cost, () => table.putIfUnchanged(key, bytes));
    // Known only now: each try took what the first one took.
    await instance.processor.spend(conflicts * cost);
  }

  async function load(index: number): Promise<void> {
    const items = Array.from({ length: LOAD_RECORDS_PER_CALL }, (_, offset) => itemOf(index + offset));
    if (layout !== 'batch') {
      for (const { key, bytes } of items) await charged(instance, at(single?.insert), () => table.insert(key, bytes));
      return;
    }
    const lanes = Map.groupBy(items, ({ key }) => table.lane(key));
    const batches = [...lanes.values()].flatMap((lane) => chunks(lane, table.putManyMax));
    const send = (batch: typeof items): Promise<void> =>
      charged(instance, batched.request + batch.length * batched.record, () => table.putMany(batch));
    await Promise.all(batches.map(send));
  }

  return async ({ kind, index }) => {
    if (kind === 'load') return load(index);
    const item = itemOf(index);
    if (kind === 'read') {
      const found = await charged(instance, at(single?.get), () => table.get(item.key));
      if (found === undefined) throw new AbsentError(item.key);
    } else if (kind === 'modify' || layout === 'conditional') {
      await conditional(item);
    } else {
      await charged(instance, at(single?.replace), () => table.put(item.key, item.bytes));
    }
  };
}

/** Half of the cost is spent before the request is sent, half when it is answered. */
async function charged<T>({ processor }: Instance, microseconds: number, send: () => Promise<T>): Promise<T> {
  await processor.spend(microseconds / 2);
  const answer = await send();
  await processor.spend(microseconds / 2);
  return answer;
}

export interface ContainerClientOptions {
  readonly table: Table<Uint8Array>;
  readonly instance: Instance;
  readonly keyOf: KeySource;
  readonly valueOf: ValueSource;
  /** Undefined: the processor costs nothing. */
  readonly costs: ProcessorCosts | undefined;
}

/** This store. What its requests cost is charged where they are sent (instance/charged-driver.ts). */
export function containerClient({ table, instance, keyOf, valueOf, costs }: ContainerClientOptions): Client {
  const own = costs?.container.operation;
  const costOf: Readonly<Record<Operation['kind'], () => number>> = {
    read: () => costAt(own?.get ?? FREE, instance.inFlight),
    put: () => costAt(own?.put ?? FREE, instance.inFlight),
    modify: () => costAt(own?.update ?? FREE, instance.inFlight),
    load: () => LOAD_RECORDS_PER_CALL * (own?.putManyRecord ?? 0),
  };

  async function load(first: number, round: number): Promise<void> {
    const items = Array.from({ length: LOAD_RECORDS_PER_CALL }, (_, offset) => {
      const index = first + offset;
      return { key: keyOf(index), value: valueOf(index, round) };
    });
    for (const outcome of await table.putMany(items)) if (outcome.status === 'failed') throw outcome.error;
  }

  return async ({ kind, index, round }) => {
    await instance.processor.spend(costOf[kind]());
    if (kind === 'load') return load(index, round);
    const key = keyOf(index);
    if (kind === 'put') await table.put(key, valueOf(index, round));
    else if (kind === 'modify') await table.update(key, () => valueOf(index, round));
    else if ((await table.get(key)) === undefined) throw new AbsentError(key);
  };
}
