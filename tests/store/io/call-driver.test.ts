// An administrative call reports "nothing was written" only if that is certain.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { WriteOutcome } from '../../../shared/store/contract/driver.ts';
import { type StoreErrorCode, StoreError } from '../../../shared/store/contract/errors.ts';
import { CallDriver, Deadlines } from '../../../shared/store/io/deadline.ts';
import { entityId } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

/** The code that the caller hears if the call fails with `code` after these write outcomes. */
async function heard(code: StoreErrorCode, ...outcomes: readonly WriteOutcome[]): Promise<unknown> {
  const script = [...outcomes];
  const call = new CallDriver(
    { ...memoryDriver(), write: async () => [script.shift()!] },
    new Deadlines(new VirtualRuntime(), 1_000),
  );
  for (const _ of outcomes)
    await call.driver.write([{ kind: 'insert', id: entityId('a'), parts: [] }], { timeoutMs: 1_000 });
  const error = call.failure(new StoreError(code, 'said by a test'));
  return error instanceof StoreError ? error.code : error;
}

const CODES = ['aborted', 'throttled', 'unavailable', 'too_large', 'invalid'] as const;

test.each(CODES)('the error %s stays if all writes were certainly refused, and else becomes unknown', async (code) => {
  for (const reason of ['denied', 'limit', 'invalid', 'unsent'] as const)
    expect(await heard(code, { kind: 'refused', reason })).toBe(code);
  expect(await heard(code, { kind: 'unknown', reason: 'other' }, { kind: 'refused', reason: 'limit' })).toBe('unknown');
  for (const reason of ['condition', 'throttled'] as const)
    expect(await heard(code, { kind: 'refused', reason })).toBe('unknown');
});

test('an error that does not say "nothing was written" stays after a write', async () => {
  for (const code of ['conflict', 'not_found', 'corrupt'] as const)
    expect(await heard(code, { kind: 'unknown', reason: 'other' })).toBe(code);
});
