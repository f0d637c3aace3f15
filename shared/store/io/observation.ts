// A container as one reply showed it, and whether that is what memory holds.
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityVersion } from '../contract/driver.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';

export interface Observation {
  readonly version: EntityVersion;
  readonly lastCommit: Id64 | undefined;
  readonly seen: Moment;
  /** Present if the header was asked for. */
  readonly snapshot: Snapshot | undefined;
}

/** Version and commit id must both be equal. */
export function isSameVersion(observed: Observation, snapshot: Snapshot): boolean {
  return observed.version === snapshot.version && observed.lastCommit === snapshot.lastCommit;
}

/** Whether the reply shows the snapshot's very version: then it is as young as the reply. */
export function isShownBy(observed: Observation | undefined, snapshot: Snapshot): boolean {
  if (observed === undefined || !isSameVersion(observed, snapshot)) return false;
  if (observed.seen.tick > snapshot.seen.tick) snapshot.seen = observed.seen;
  return true;
}
