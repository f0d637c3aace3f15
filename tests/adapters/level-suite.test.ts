// abstract-level's published suite on each provider. It is written for tape, of whose interface it
// uses the methods of `Assertions` alone.
import { deepStrictEqual, doesNotThrow, notStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import suite from 'abstract-level/test';
import { describe, expect, test } from 'vitest';
import { StowageLevel } from '../../shared/adapters/level.ts';
import { startStores } from './stores.ts';

const STORES = await startStores();
let databases = 0;

/** Failures are collected: one that were thrown might be caught by the code under test. */
class Assertions {
  readonly failures: string[] = [];
  count = 0;
  readonly #ended = Promise.withResolvers<void>();
  #planned: number | undefined;

  readonly is = this.#asserting(strictEqual);
  readonly isNot = this.#asserting(notStrictEqual);
  readonly same = this.#asserting(deepStrictEqual);
  readonly ok = this.#asserting(ok);
  readonly throws = this.#asserting(throws);
  readonly doesNotThrow = this.#asserting(doesNotThrow);
  readonly pass = this.#asserting(() => {});
  readonly fail = this.#asserting((why: unknown) => {
    throw new Error(String(why));
  });
  readonly end = (): void => this.#ended.resolve();
  readonly plan = (count: number): void => void (this.#planned = count);

  #asserting<Args extends unknown[]>(assert: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      this.count += 1;
      try {
        assert(...args);
      } catch (error) {
        this.failures.push((error as Error).stack!);
      }
      if (this.count === this.#planned) this.end();
    };
  }

  /** A test that returns a promise ends with it, others by `end` or with their plan. */
  async run(body: (assertions: Assertions) => unknown): Promise<void> {
    const returned = body(this);
    await (returned instanceof Promise ? returned : this.#ended.promise);
    if (this.#planned !== undefined) this.is(this.count, this.#planned);
  }
}

describe.each(STORES)('abstract-level on %s', (_, store) => {
  let count = 0;
  const declare = (name: string, body: (assertions: Assertions) => unknown): void =>
    // oxlint-disable-next-line vitest/valid-title -- the suite has the titles
    test(name, async () => {
      const assertions = new Assertions();
      await assertions.run(body);
      count += assertions.count;
      expect(assertions.failures).toEqual([]);
    });
  // By the order in which it checks files TypeScript takes this for an AbstractLevel, or does not.
  const factory: Parameters<typeof suite>[0]['factory'] = (options) =>
    // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- order decides
    new StowageLevel(store, `level-${(databases += 1)}`, options) as never;
  suite({ test: declare, factory });
  test('the suite makes thousands of assertions', () => expect(count).toBeGreaterThan(4_000));
});
