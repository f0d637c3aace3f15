// Finding the leaf that owns a key, for a put and for a get.
import { type Leaf, owns, type Position } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';
import { finish } from './absorb.ts';
import { type Hint, hintOf, rightOf, route, tellOfRight } from './hints.ts';
import { Corrupt, search, serve } from './search.ts';

/** The key's live owner, known or read: the commit's condition decides. Rule 28 (a), (c), (d). */
export function* ownerForWriting(self: Self, key: Position, from: Hint): Steps<Leaf> {
  for (let at = from; ;) {
    const leaf = self.known(at.id) ?? (yield* self.read(at.id));
    if (leaf === undefined) return yield* search(self, key, at.at, finish);
    if (owns(leaf, key) && mayBeWritten(self, leaf)) return leaf;
    if (key < leaf.high) return yield* goOn(self, key, yield* search(self, key, leaf.low, finish));
    yield* tellOfRight(self, leaf);
    at = rightOf(leaf);
  }
}

function mayBeWritten(self: Self, { state }: Leaf): boolean {
  return state === 'live' || (state === 'retired' && self.breaks('writes-to-a-retired-leaf'));
}

/** Rule 28 (d): the writer goes on where the search ended. */
function* goOn(self: Self, key: Position, found: Leaf): Steps<Leaf> {
  if (!self.breaks('routes-again-after-helping')) return found;
  return yield* ownerForWriting(self, key, hintOf(yield* route(self, key)));
}

/** The leaf whose content answers for the key: rule 28 (a) to (c). */
export function* ownerForReading(self: Self, key: Position, from: Hint): Steps<Leaf> {
  // Whether a live leaf, read by this operation, led here directly or through retired leaves.
  let isLed = self.breaks('serves-what-an-entry-named');
  for (let at = from, before: Leaf | undefined; ;) {
    const held = self.known(at.id);
    const isPassed = held?.state === 'live' && held.high <= key;
    const leaf: Leaf | undefined = isPassed ? held : yield* self.read(at.id);
    if (leaf === undefined && before?.state === 'retired' && self.breaks('miss-after-a-frozen-link-is-corrupt'))
      throw new Corrupt(`${before.id} links to ${at.id}, which is missing`);
    if (leaf === undefined) return yield* search(self, key, at.at, serve);
    if (owns(leaf, key)) {
      if (leaf.state === 'live' || (isLed && mayServe(self, leaf))) return leaf;
      return yield* search(self, key, leaf.low, serve);
    }
    if (key < leaf.low) return yield* search(self, key, leaf.low, serve);
    const isLive = leaf.state === 'live' && (!isPassed || self.breaks('serves-by-a-remembered-leaf'));
    isLed = isLive || (isLed && leaf.state === 'retired');
    yield* tellOfRight(self, leaf);
    before = leaf;
    at = rightOf(leaf);
  }
}

function mayServe(self: Self, { state }: Leaf): boolean {
  return state === 'retired' || self.breaks('serves-a-stripped-leaf');
}
