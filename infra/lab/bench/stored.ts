// Bytes that a record takes in storage, ours against an entity of its own, each by its service's
// published formula.
import { openStore } from '../../../shared/store/index.ts';
import { type Column, figureOf, type FigureTable, type Row } from '../../../shared/lab/report/chapters/schema.ts';
import type { BenchProvider } from '../providers.ts';
import { entitySizes, KIND, plainBytes, unindexedBytes } from '../stored-bytes.ts';
import { Sample } from './contest/sample.ts';

/** Writes the contests' records into a table of its own, in 20 calls, and weighs all entities. */
export async function storedTable(bench: BenchProvider): Promise<FigureTable> {
  const { provider, backend } = bench;
  const records = new Sample().records();
  const driver = bench.driver('weighed');
  const store = openStore({ driver });
  try {
    const table = await store.table('weighed');
    const perCall = Math.ceil(records.length / 20);
    for (let first = 0; first < records.length; first += perCall) {
      const items = records.slice(first, first + perCall).map(({ key, fields }) => ({ key, value: fields }));
      await table.putMany(items);
    }
    const sizes = await entitySizes(driver, provider === 'datastore');
    const row = (id: string, name: string, bytes: readonly number[]): Row => {
      const mean = bytes.reduce((sum, one) => sum + one, 0) / records.length;
      return { id, name, against: 'ours', figures: { bytes: figureOf([mean]) } };
    };
    const theirs = records.map((record) => plainBytes(provider, KIND, record));
    const unindexed = records.map((record) => unindexedBytes(provider, KIND, record));
    return {
      id: 'stored',
      title: 'Bytes in storage',
      about: 'By the formula that the service publishes.',
      columns: [columnOn(backend)],
      rows: [
        row('ours', 'Stowage', sizes),
        row('theirs', 'plain SDK, its fields indexed as by default', theirs),
        row('unindexed', 'plain SDK, no field indexed', unindexed),
      ],
    };
  } finally {
    await store.close();
  }
}

function columnOn(where: string): Column {
  return { id: 'bytes', era: 'now', measure: 'stored a record', where, unit: 'bytes', better: 'lower' };
}
