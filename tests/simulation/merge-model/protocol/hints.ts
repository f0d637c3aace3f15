// Routing entries and links as hints: where an operation begins, and what it tells the branch afterwards (rules 11 and 29).
import { type Entry, entryAt, type Id, type Leaf, owns, type Position } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';

/** Where to look next, and where what is there should begin at the latest. */
export interface Hint {
  readonly id: Id;
  readonly at: Position;
}

export function* route(self: Self, key: Position): Steps<Entry> {
  return entryAt(self.branch ?? (yield* self.readBranch()), key)!;
}

export function hintOf({ child, separator }: Entry): Hint {
  return { id: child, at: separator };
}

export function rightOf({ right, high }: Leaf): Hint {
  return { id: right!, at: high };
}

/** Rule 11: tells the branch of a right neighbour that it does not know. */
export function* tellOfRight(self: Self, { state, high, right }: Leaf): Steps<void> {
  if (state !== 'live' || self.branch?.some(({ separator }) => separator === high) === true) return;
  yield { kind: 'repair', separator: high, expected: undefined, child: right! };
}

/** Rule 29: an entry that led astray is set to the live leaf that owns its separator, if this operation saw it. */
export function* mend(self: Self, { separator, child }: Entry, key: Position): Steps<void> {
  const position = self.breaks('repairs-to-the-owner-of-the-key') ? key : separator;
  const owner = self.live.findLast((leaf) => owns(leaf, position));
  if (owner === undefined || owner.id === child) return;
  if (self.breaks('keeps-entries-that-lead-astray')) return;
  if (self.known(child)?.state === 'live' && self.breaks('keeps-overtaken-entries')) return;
  yield { kind: 'repair', separator, expected: child, child: owner.id };
}
