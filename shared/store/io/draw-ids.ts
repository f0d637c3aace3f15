// Fresh ids: of containers, incarnations and attempts.
import { tagged } from '../container/writers.ts';
import type { Runtime } from '../contract/runtime.ts';
import { id64, type Id64, ID64_BYTES } from '../format/bytes.ts';

/** A fresh random id: of a container or an incarnation. */
export function drawId(runtime: Pick<Runtime, 'random'>): Id64 {
  return id64(runtime.random(ID64_BYTES));
}

/** A fresh id of an attempt, which begins with the tag of its process. */
export function drawAttempt({
  runtime,
  tag,
}: {
  readonly runtime: Pick<Runtime, 'random'>;
  readonly tag: string;
}): Id64 {
  return tagged(drawId(runtime), tag);
}
