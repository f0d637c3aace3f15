// Counts the requests of a cold process to its first record.
import { measured } from '../../../shared/drivers/measured.ts';
import { type Driver, openStore } from '../../../shared/store/index.ts';

/** Requests from opening the table to having the record, which must be there. Closes the driver. */
export async function requestsToFirstRecord(driver: Driver, tableName: string, key: string): Promise<number> {
  const { driver: counted, counters } = measured(driver);
  const store = openStore({ driver: counted });
  try {
    const table = await store.table(tableName, { create: false });
    if ((await table.get(key)) === undefined) throw new Error(`the first record is not there: ${key}`);
    return counters.readCalls + counters.listCalls;
  } finally {
    await store.close();
  }
}
