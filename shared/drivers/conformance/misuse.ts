// Misuse is a TypeError and sends nothing; closing is idempotent and final.
import type { EntityVersion, Write } from '../../store/contract/driver.ts';
import { matches, misused, rejects, same } from './assertions.ts';
import { check, type Check } from './contract-check.ts';
import { CALL, entityId, idsOfOneLane, insert, noise, part, patch, readOne, textOf, written } from './check-calls.ts';

export const MISUSE: readonly Check[] = [
  check('rule 18: a write or removal without a real version is misuse and changes nothing', async (driver, id) => {
    await written(driver, insert(id, [part('h', 'kept')]));
    for (const version of ['', '*', 'W/"*"', undefined as unknown as string].map((text) => text as EntityVersion)) {
      for (const kind of ['patch', 'replace'] as const) {
        const write: Write = { kind, id, version, parts: [part('h', 'lost', 1)] };
        await misused(driver.write([write], CALL));
      }
      await misused(driver.remove([{ id, version }], CALL));
    }
    same(textOf(await readOne(driver, id)), { h: 'kept' });
  }),

  check('a large part without a number is misuse', async (driver, id) => {
    await misused(driver.write([insert(id, [part('h', 'x'.repeat(40_000))])], CALL));
    same(await readOne(driver, id), undefined);
  }),

  check('an entity twice in one request is misuse', async (driver, id) => {
    await misused(driver.write(twice(insert(id, [part('h', 'x')])), CALL));
    await misused(driver.remove(twice({ id, version: 'v' as EntityVersion }), CALL));
    await misused(driver.read(twice({ id, parts: 'all' as const }), CALL));
  }),

  check('lanes mixed in one request are misuse', async (driver, prefix) => {
    const ids = Array.from({ length: 200 }, (_, n) => entityId(`${prefix}${n}`));
    const other = ids.find((id) => driver.limits.lane(id) !== driver.limits.lane(prefix));
    if (other === undefined) return;
    const writes = [insert(prefix, [part('h', 'x')]), insert(other, [part('h', 'x')])];
    await misused(driver.write(writes, CALL));
  }),

  check('more than the limits of a request, or nothing at all, is misuse', async (driver, prefix) => {
    const { writesMax, readsMax, listMax } = driver.limits;
    const ids = idsOfOneLane(driver, prefix, Math.max(writesMax, readsMax) + 1);
    const writes = ids.slice(0, writesMax + 1).map((id) => insert(id, [part('h', 'x')]));
    const reads = ids.slice(0, readsMax + 1).map((id) => ({ id, parts: 'all' as const }));
    await misused(driver.write(writes, CALL));
    await misused(driver.write([], CALL));
    await misused(driver.read(reads, CALL));
    await misused(driver.list(prefix, undefined, listMax + 1, CALL));
    await misused(driver.list(prefix, undefined, 0, CALL));
  }),

  check('more bytes in several writes than the limit says are misuse', async (driver, prefix) => {
    const { writeBytesMax } = driver.limits;
    const bytes = noise(Math.ceil(writeBytesMax / 2) + 1);
    const writes = idsOfOneLane(driver, prefix, 2).map((id) => insert(id, [part('p0', bytes)]));
    await misused(driver.write(writes, CALL));
  }),

  check('a bad id, part name or prefix is misuse', async (driver, prefix) => {
    for (const id of ['', 'a/b', 'a b', "a'b", 'ä', 'a'.repeat(driver.limits.idBytesMax + 1)].map(entityId)) {
      await misused(driver.write([insert(id, [part('h', 'x')])], CALL));
      await misused(driver.read([{ id, parts: 'all' }], CALL));
    }
    for (const name of ['', 'H', 'p12345', 'pp', 'p_1', '1'])
      await misused(driver.write([insert(prefix, [part(name, 'x')])], CALL));
    await misused(driver.write([insert(prefix, [part('h', 'x'), part('h', 'y')])], CALL));
    await misused(driver.list("a'", undefined, 10, CALL));
  }),

  check('a closed driver rejects reads and lists, and sends no write or removal', async (_driver, id, around) => {
    const own = await around.open();
    const version = await written(own, insert(id, [part('h', 'x')]));
    await own.close();
    await own.close();
    await rejects(own.read([{ id, parts: 'all' }], CALL), { code: 'unavailable' });
    await rejects(own.list(id, undefined, 10, CALL), { code: 'unavailable' });
    matches(await own.write([patch(id, version, [part('h', 'y', 1)])], CALL), [UNSENT]);
    matches(await own.remove([{ id, version }], CALL), [UNSENT]);
  }),
];

/** Certainly not applied, and the cause says why. */
const UNSENT = { kind: 'refused', cause: { code: 'unavailable' } };

function twice<T>(one: T): [T, T] {
  return [one, one];
}
