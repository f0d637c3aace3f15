// A table most of which was deleted, or expired.
import { memoryState } from '../../../drivers/memory/effects.ts';
import type { Order, PutItem } from '../../../store/index.ts';
import { TABLE } from '../../cloud/run/datasets.ts';
import { censusOf } from '../../cloud/tables/census.ts';
import { type RecordFields, recordSource } from '../../work/records.ts';
import { type Figures, HOUR_MS, type Stage, VACUUM } from './stage.ts';
import type { MergingWorld, OpenTable } from './world.ts';

const BATCH = 5_000;

function keyOf(index: number): string {
  return `session:${String(index).padStart(8, '0')}`;
}

function isKept(index: number): boolean {
  return index % 100 === 0;
}

/** 100,000 records, of which one in a hundred is left. */
export async function emptied(stage: Stage, order: Order, way: 'deleted' | 'expired'): Promise<Figures> {
  const { world } = stage;
  const state = memoryState();
  const { store, table } = await world.open(state, order);
  const source = recordSource(1, 100);
  const itemOf = (index: number) => ({ key: keyOf(index), value: source(index, 0).fields });
  const ttl = (index: number) => (way === 'expired' && !isKept(index) ? { ttlMs: HOUR_MS / 6 } : {});
  const batches = Array.from({ length: 100_000 / BATCH }, (_, batch) =>
    Array.from({ length: BATCH }, (_unused, index) => batch * BATCH + index),
  );
  for (const batch of batches)
    await table.putMany(batch.map((index): PutItem<RecordFields> => ({ ...itemOf(index), ...ttl(index) })));
  if (way === 'deleted')
    for (const batch of batches) await table.deleteMany(batch.filter((index) => !isKept(index)).map(keyOf));
  await store.close();
  await world.scheduler.after(HOUR_MS);
  const before = await scanned(world, () => world.open(state, order));
  const merger = await world.open(state, order);
  await merger.store.vacuum(TABLE, VACUUM);
  const after = await scanned(world, () => world.open(state, order));

  const freshState = memoryState();
  const fresh = await world.open(freshState, order);
  const kept = batches.flat().filter(isKept);
  await fresh.table.putMany(kept.map(itemOf));
  const leaves = censusOf(state).leaves / censusOf(freshState).leaves;
  return [
    { figure: 'records found', value: after.records, goal: { atLeast: kept.length } },
    { figure: 'requests of a scan before', value: before.requests },
    { figure: 'requests of a scan after', value: after.requests },
    { figure: 'leaves : a fresh table', value: leaves, goal: { atMost: 1.5 } },
  ];
}

async function scanned(
  world: MergingWorld,
  open: () => Promise<OpenTable>,
): Promise<{ records: number; requests: number }> {
  const { table } = await open();
  let records = 0;
  const requests = await world.requestsOf(async () => {
    for await (const _ of table.scan()) records += 1;
  });
  return { records, requests };
}
