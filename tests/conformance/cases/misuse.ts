// Misuse is a TypeError and sends nothing; closing is idempotent and final.
import { expect } from 'vitest';
import type { Driver, Write } from '../../../shared/store/contract/driver.ts';
import { declarer } from '../declare.ts';
import { CALL, type Harness, idsOfOneLane, insert, noise, part, patch, readOne, textOf, written } from '../harness.ts';
import { entityId, entityVersion } from '../../support/ids.ts';

export function misuseCases(harness: Harness, opened: () => Driver): void {
  const test = declarer(harness, opened);

  test('rule 18: a write or removal without a real version is misuse and changes nothing', async (driver, id) => {
    await written(driver, insert(id, [part('h', 'kept')]));
    for (const version of ['', '*', 'W/"*"', undefined as unknown as string].map(entityVersion)) {
      for (const kind of ['patch', 'replace'] as const) {
        const write: Write = { kind, id, version, parts: [part('h', 'lost', 1)] };
        await expect(driver.write([write], CALL)).rejects.toThrow(TypeError);
      }
      await expect(driver.remove([{ id, version }], CALL)).rejects.toThrow(TypeError);
    }
    expect(textOf(await readOne(driver, id))).toEqual({ h: 'kept' });
  });

  test('a large part without a number is misuse', async (driver, id) => {
    await expect(driver.write([insert(id, [part('h', 'x'.repeat(40_000))])], CALL)).rejects.toThrow(TypeError);
    expect(await readOne(driver, id)).toBeUndefined();
  });

  test('an entity twice in one request is misuse', async (driver, id) => {
    await expect(driver.write(twice(insert(id, [part('h', 'x')])), CALL)).rejects.toThrow(TypeError);
    await expect(driver.remove(twice({ id, version: entityVersion('v') }), CALL)).rejects.toThrow(TypeError);
    await expect(driver.read(twice({ id, parts: 'all' as const }), CALL)).rejects.toThrow(TypeError);
  });

  test('lanes mixed in one request are misuse', async (driver, prefix) => {
    const ids = Array.from({ length: 200 }, (_, n) => entityId(`${prefix}${n}`));
    const other = ids.find((id) => driver.limits.lane(id) !== driver.limits.lane(prefix));
    if (other === undefined) return;
    const writes = [insert(prefix, [part('h', 'x')]), insert(other, [part('h', 'x')])];
    await expect(driver.write(writes, CALL)).rejects.toThrow(TypeError);
  });

  test('more than the limits of a request, or nothing at all, is misuse', async (driver, prefix) => {
    const { writesMax, readsMax, listMax } = driver.limits;
    const ids = idsOfOneLane(driver, prefix, Math.max(writesMax, readsMax) + 1);
    const writes = ids.slice(0, writesMax + 1).map((id) => insert(id, [part('h', 'x')]));
    const reads = ids.slice(0, readsMax + 1).map((id) => ({ id, parts: 'all' as const }));
    await expect(driver.write(writes, CALL)).rejects.toThrow(TypeError);
    await expect(driver.write([], CALL)).rejects.toThrow(TypeError);
    await expect(driver.read(reads, CALL)).rejects.toThrow(TypeError);
    await expect(driver.list(prefix, undefined, listMax + 1, CALL)).rejects.toThrow(TypeError);
    await expect(driver.list(prefix, undefined, 0, CALL)).rejects.toThrow(TypeError);
  });

  test('more bytes in several writes than the limit says are misuse', async (driver, prefix) => {
    const { writeBytesMax } = driver.limits;
    const bytes = noise(Math.ceil(writeBytesMax / 2) + 1);
    const writes = idsOfOneLane(driver, prefix, 2).map((id) => insert(id, [part('p0', bytes)]));
    await expect(driver.write(writes, CALL)).rejects.toThrow(TypeError);
  });

  test('a bad id, part name or prefix is misuse', async (driver, prefix) => {
    for (const id of ['', 'a/b', 'a b', "a'b", 'ä', 'a'.repeat(driver.limits.idBytesMax + 1)].map(entityId)) {
      await expect(driver.write([insert(id, [part('h', 'x')])], CALL)).rejects.toThrow(TypeError);
      await expect(driver.read([{ id, parts: 'all' }], CALL)).rejects.toThrow(TypeError);
    }
    for (const name of ['', 'H', 'p12345', 'pp', 'p_1', '1']) {
      await expect(driver.write([insert(prefix, [part(name, 'x')])], CALL)).rejects.toThrow(TypeError);
    }
    await expect(driver.write([insert(prefix, [part('h', 'x'), part('h', 'y')])], CALL)).rejects.toThrow(TypeError);
    await expect(driver.list("a'", undefined, 10, CALL)).rejects.toThrow(TypeError);
  });

  test('a closed driver fails: reads and lists reject, writes and removals are not sent', async (_driver, id) => {
    const own = await harness.open();
    const version = await written(own, insert(id, [part('h', 'x')]));
    await own.close();
    await own.close();
    await expect(own.read([{ id, parts: 'all' }], CALL)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(own.list(id, undefined, 10, CALL)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await own.write([patch(id, version, [part('h', 'y', 1)])], CALL)).toMatchObject([UNSENT]);
    expect(await own.remove([{ id, version }], CALL)).toMatchObject([UNSENT]);
  });
}

/** Certainly not applied, and the cause says why. */
const UNSENT = { kind: 'refused', cause: { code: 'unavailable' } };

function twice<T>(one: T): [T, T] {
  return [one, one];
}
