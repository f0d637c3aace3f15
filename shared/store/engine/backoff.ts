// How long a queue waits before it tries its container again.
import type { StoreError } from '../contract/errors.ts';

const FIRST_MS = 5;
const MOST_MS = 500;
/** Hints that met a conflict wait longer, from the first on. */
const HINTS_DOUBLINGS = 3;
const HINTS_MOST_MS = 10_000;
/** Who is throttled waits longer too: whatever else uses the account is in the way. */
const THROTTLED_DOUBLINGS = 5;
const THROTTLED_MOST_MS = 5_000;

/** What a queue met since a commit of its container was acknowledged. */
export interface Trouble {
  /** Attempts and reads that failed, without those that met another's commit or were throttled. */
  readonly failuresInARow: number;
  readonly throttledInARow: number;
  /** The provider's last word, if it turned the last attempt away. */
  readonly turnedAway: StoreError | undefined;
}

/** `hintRefusals`: of the hints that wait, if nothing else does. Other refused changes are tried again at once. */
export function doublingsFor({ failuresInARow, throttledInARow }: Trouble, hintRefusals: number): number {
  const throttled = throttledInARow > 0 ? THROTTLED_DOUBLINGS + throttledInARow : 0;
  return failuresInARow + throttled + (hintRefusals > 0 ? HINTS_DOUBLINGS + hintRefusals : 0);
}

/** Full jitter, doubling; not before the provider wants to be asked again. `share`: from 0 to 1, by chance. */
export function backoffMs(
  { throttledInARow, turnedAway }: Trouble,
  doublings: number,
  areHints: boolean,
  share: number,
) {
  const awaitedMost = throttledInARow > 0 ? THROTTLED_MOST_MS : MOST_MS;
  const ceiling = Math.min(areHints ? HINTS_MOST_MS : awaitedMost, FIRST_MS * 2 ** Math.min(20, doublings));
  return (turnedAway?.retryAfterMs ?? 0) + share * ceiling;
}
