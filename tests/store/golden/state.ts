// The golden containers, as earlier releases wrote them, in a memory driver's state.
import { readFileSync } from 'node:fs';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type MemoryState, memoryState } from '../../../shared/drivers/memory/effects.ts';
import { entityId, partName } from '../../support/ids.ts';

export async function goldenState(name: 'none' | 'deflate' | 'zstd' | 'courtesies' | 'merging'): Promise<MemoryState> {
  const file = new URL(`v1-${name}.json`, import.meta.url);
  const entities = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
  const state = memoryState();
  const driver = memoryDriver({ state });
  for (const [id, parts] of Object.entries(entities)) {
    const decoded = Object.entries(parts).map(([part, base64]) => ({
      name: partName(part),
      bytes: Buffer.from(base64, 'base64'),
      chunksBefore: 0,
    }));
    await driver.write([{ kind: 'insert', id: entityId(id), parts: decoded }], { timeoutMs: 1_000 });
  }
  return state;
}
