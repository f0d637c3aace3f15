// Tells a request's step of a merge from its bytes, before its effect, so that scenarios can aim.
import type { Write } from '../../shared/store/contract/driver.ts';
import type { MemoryState } from '../../shared/drivers/memory.ts';
import { entityId, partName } from '../support/ids.ts';
import { decodeNode, type Node } from './decode.ts';
import type { MergeStep } from './scenario.ts';

/** Undefined for any other write. */
export function mergeStepOf(writes: readonly Write[], state: MemoryState): MergeStep | undefined {
  for (const write of writes) {
    const header = write.parts.find(({ name }) => name === partName('h'));
    const step = header === undefined ? undefined : stepOf(write, decodeNode(header.bytes), state);
    if (step !== undefined) return step;
  }
  return undefined;
}

function stepOf(write: Write, is: Node, state: MemoryState): MergeStep | undefined {
  if (is.level > 0) return undefined;
  if (is.state === 'retired') return 'retire';
  if (is.state === 'merged') return 'strip';
  if (write.kind === 'insert')
    return is.origin !== undefined && nodeAt(state, is.origin.id)?.state === 'retired' ? 'copy' : undefined;
  const was = nodeAt(state, write.id);
  if (was?.right === undefined || was.right === is.right) return undefined;
  const right = nodeAt(state, write.id.replace(/[^!]*$/, was.right));
  return right?.state === 'retired' ? 'absorb' : undefined;
}

/** Undefined if there is none. */
export function nodeAt(state: MemoryState, id: string): Node | undefined {
  const header = state.entities.get(entityId(id))?.parts.get(partName('h'));
  return header === undefined ? undefined : decodeNode(header);
}
