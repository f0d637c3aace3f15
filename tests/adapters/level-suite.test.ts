// abstract-level's published suite, which is of tape, on each provider: one test holds all of its
// assertions.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import suite from 'abstract-level/test';
import { describe, expect, inject, test } from 'vitest';
import { StowageLevel } from '../../shared/adapters/level.ts';
import type { Store } from '../../shared/store/index.ts';
import { startStores } from './stores.ts';

const STORES = await startStores();
const tools = inject('tools');

describe.each(STORES)('abstract-level on %s', (_, store) => {
  test.skipIf(tools === undefined)('passes its suite', async () => {
    const { failed, count } = await assertionsOn(store);
    expect(failed).toEqual([]);
    expect(count).toBeGreaterThan(4_000);
  });
});

interface Tape {
  createHarness(options: { autoclose: boolean }): {
    createStream(options: { objectMode: true }): NodeJS.ReadableStream;
    onFinish(finished: () => void): void;
  };
}

async function tape(): Promise<Tape> {
  const file = pathToFileURL(path.join(tools!, 'tape/index.js')).href;
  return ((await import(file)) as { default: Tape }).default;
}

let databases = 0;

/** Runs the suite; resolves to the assertions that failed, and the number of all. */
async function assertionsOn(store: Store): Promise<{ failed: string[]; count: number }> {
  const harness = (await tape()).createHarness({ autoclose: true });
  const failed: string[] = [];
  let count = 0;
  let name = '';
  harness.createStream({ objectMode: true }).on('data', (row: Row) => {
    if (row.type === 'test') ({ name } = row);
    if (row.type !== 'assert') return;
    count += 1;
    if (!row.ok)
      failed.push(`${name}: ${row.name} ${JSON.stringify([row.actual, row.expected])} ${String(row.error?.stack)}`);
  });
  const ended = new Promise<void>((resolve) => {
    harness.onFinish(resolve);
  });
  // By the order in which it checks files TypeScript takes this for an AbstractLevel, or does not.
  const factory: Parameters<typeof suite>[0]['factory'] = (options) =>
    // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- order decides
    new StowageLevel(store, `level-${(databases += 1)}`, options) as never;
  suite({ test: harness, factory });
  await ended;
  return { failed, count };
}

interface Row {
  readonly type: string;
  readonly name: string;
  readonly ok: boolean;
  readonly actual: unknown;
  readonly expected: unknown;
  readonly error: Error | undefined;
}
