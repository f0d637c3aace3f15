// Draws fresh ids for containers, incarnations and attempts.
import { tagged } from '../format/header.ts';
import type { Runtime } from '../contract/runtime.ts';
import { id64, type Id64, ID64_BYTES } from '../format/bytes.ts';

/** A random id for a container or an incarnation. */
export function drawId(runtime: Pick<Runtime, 'random'>): Id64 {
  return id64(runtime.random(ID64_BYTES));
}

/** A random id for an attempt. It begins with the tag of its process. */
export function drawAttempt(core: { readonly runtime: Pick<Runtime, 'random'>; readonly tag: string }): Id64 {
  return tagged(drawId(core.runtime), core.tag);
}
