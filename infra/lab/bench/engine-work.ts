// The program that bundled.ts runs from source and as a bundle: writes and reads batches on the memory driver, so that only this project's
// code and its packages count. Prints records a second.
import { recordSource } from '../../../shared/lab/work/records.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';

const RECORD_BYTES = 500;
const RECORDS = 5_000;
const PER_CALL = 500;
/** The first rounds are slower, while the code is being compiled. */
const ROUNDS = 6;
const ROUNDS_MEASURED = 3;

const store = openStore({ driver: memoryDriver() });
const source = recordSource(1, RECORD_BYTES);
const items = Array.from({ length: RECORDS }, (_, index) => {
  const { key, fields } = source(index, 0);
  return { key, value: fields };
});

let busyMs = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  const table = await store.table(`t${round}`);
  const begunMs = performance.now();
  for (let first = 0; first < RECORDS; first += PER_CALL) {
    const some = items.slice(first, first + PER_CALL);
    await table.putMany(some);
    await table.getMany(some.map(({ key }) => key));
  }
  if (round >= ROUNDS - ROUNDS_MEASURED) busyMs += performance.now() - begunMs;
}
await store.close();
console.log(Math.round((2 * RECORDS * ROUNDS_MEASURED * 1_000) / busyMs));
