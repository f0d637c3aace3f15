// Entries and links are hints: an operation begins there, and repairs them later (rules 11 and 29).
import { type Entry, entryAt, type Id, type Leaf, owns, type Position } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';

/** The leaf to look at next. It should begin at `at` or to the left of it. */
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

/** Rule 11: tells the branch of an unknown right neighbour. */
export function* tellOfRight(self: Self, { state, high, right }: Leaf): Steps<void> {
  if (state !== 'live' || self.branch?.some(({ separator }) => separator === high) === true) return;
  yield { kind: 'repair', separator: high, expected: undefined, child: right! };
}

/** Rule 29: sets an entry that led astray to its separator's live owner, if that was seen. */
export function* mend(self: Self, { separator, child }: Entry, key: Position): Steps<void> {
  const position = self.breaks('repairs-to-the-owner-of-the-key') ? key : separator;
  const owner = self.live.findLast((leaf) => owns(leaf, position));
  if (owner === undefined || owner.id === child) return;
  if (self.breaks('keeps-entries-that-lead-astray')) return;
  if (self.known(child)?.state === 'live' && self.breaks('keeps-overtaken-entries')) return;
  yield { kind: 'repair', separator, expected: child, child: owner.id };
}
