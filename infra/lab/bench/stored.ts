// Bytes of a record in storage, ours against an entity of its own, by the published formulas.
import { chunks } from '../../../shared/lab/kit/chunks.ts';
import { sum } from '../../../shared/lab/kit/numbers.ts';
import { containerClient } from '../../../shared/lab/work/layout-clients.ts';
import type { RecordFields } from '../../../shared/lab/work/records.ts';
import { openStore } from '../../../shared/store/index.ts';
import { figureOf, type FigureTable, type Row } from '../../../shared/lab/report/chapters/schema.ts';
import type { BenchProvider } from '../providers.ts';
import { entitySizes, KIND, plainBytes, unindexedBytes } from '../stored-bytes.ts';
import { Sample } from './contest/sample.ts';
import { insert, sendMany } from './contest/works.ts';

/** Writes the contests' records into a table of its own, in 20 calls, and weighs all entities. */
export async function storedTable(bench: BenchProvider): Promise<FigureTable> {
  const { provider, backend } = bench;
  const records = new Sample().records();
  const driver = bench.driver('weighed');
  const store = openStore({ driver });
  try {
    const client = containerClient(await store.table<RecordFields>('weighed'));
    for (const some of chunks(records, Math.ceil(records.length / 20))) await sendMany(client, some.map(insert), 1);
    const sizes = await entitySizes(driver, provider === 'datastore');
    const row = (id: string, name: string, bytes: readonly number[]): Row => {
      return { id, name, against: 'ours', figures: { bytes: figureOf([sum(bytes) / records.length]) } };
    };
    const theirs = records.map((record) => plainBytes(provider, KIND, record));
    const unindexed = records.map((record) => unindexedBytes(provider, KIND, record));
    const measure = 'stored a record';
    return {
      id: 'stored',
      title: 'Bytes in storage',
      about: 'By the formula that the service publishes.',
      columns: [{ id: 'bytes', era: 'now', measure, where: backend, unit: 'bytes', better: 'lower' }],
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
