// Vacuum merges and strips leaves, removes orphans, drops entries (rules 14, 26, 29, 30).
import { entryAt, type Id, type Leaf, owns, type Position, successor } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';
import { finish, liveOrNone } from './absorb.ts';
import { commit } from './commit.ts';
import { liveLeafLeftOf } from './search.ts';

/** Rules 26, 27 and 32: retires the leaf at `low`, and brings its content to its left neighbour. */
export function* merge(self: Self, low: Position): Steps<void> {
  if (low === 0) {
    yield* retireLeftmost(self);
    return;
  }
  const left = yield* leftNeighbour(self, low);
  if (left?.high !== low) return;
  const right = yield* self.read(left.right!);
  const retired = right?.state === 'live' ? yield* retire(self, right) : right;
  if (retired?.state !== 'retired' && !self.breaks('absorbs-what-was-live')) return;
  if (retired === undefined) return;
  const finished = yield* finish(self, left, retired);
  if (finished === undefined && self.breaks('revives-a-retired-leaf'))
    yield* commit(self, retired, () => ({ state: 'live' }));
}

function* retire(self: Self, leaf: Leaf): Steps<Leaf | undefined> {
  if (self.breaks('absorbs-what-was-live')) return leaf;
  const outcome = yield* commit(self, leaf, () => ({ state: 'retired' }));
  return outcome.kind === 'landed' ? outcome.now : undefined;
}

/** Rule 26 forbids it. */
function* retireLeftmost(self: Self): Steps<void> {
  if (!self.breaks('retires-the-leftmost')) return;
  const [first] = yield* self.readBranch();
  const leaf = yield* self.read(first!.child);
  if (leaf?.state === 'live') yield* retire(self, leaf);
}

/** The live leaf that ends at `low` or beyond. Undefined if one on the way no longer lives. */
function* leftNeighbour(self: Self, low: Position): Steps<Leaf | undefined> {
  let at: Leaf | undefined = yield* liveLeafLeftOf(self, low);
  while (at?.state === 'live' && at.high < low) {
    const next: Leaf | undefined = yield* self.read(at.right!);
    at = next?.state === 'retired' ? yield* finish(self, at, next) : next;
  }
  return liveOrNone(at);
}

/** Rule 30: a retired leaf becomes a bare header once its absorption is shown. */
export function* strip(self: Self, id: Id): Steps<void> {
  const leaf = yield* self.read(id);
  if (leaf?.state !== 'retired') return;
  if (!self.breaks('strips-before-the-absorb') && !(yield* isAbsorbed(self, leaf))) return;
  if (self.breaks('removes-instead-of-stripping')) {
    yield* self.write({ kind: 'remove', id, version: leaf.version });
    return;
  }
  yield* commit(self, leaf, ({ commits }) => ({
    state: 'merged',
    records: {},
    commits: self.breaks('strip-forgets-the-commits') ? [] : commits,
  }));
}

function* isAbsorbed(self: Self, { id, low }: Leaf): Steps<boolean> {
  let at: Leaf | undefined = yield* liveLeafLeftOf(self, low);
  while (at?.state === 'live' && at.high <= low) at = yield* self.read(at.right!);
  return at?.state === 'live' && at.id !== id && owns(at, low);
}

/** Rule 14: removes a leaf that nothing links or will link. */
export function* removeOrphan(self: Self, id: Id): Steps<void> {
  const leaf = yield* self.read(id);
  if (leaf?.state !== 'live' || leaf.origin === undefined) return;
  if (!self.breaks('fences-no-origin') && !(yield* hasMovedOn(self, leaf.origin))) return;
  if (yield* isUnreachable(self, leaf)) yield* self.write({ kind: 'remove', id, version: leaf.version });
}

/**
 * Rule 14 (a): no split from that version can land any more. A retired origin splits no more, and
 * (b) finds what copied it.
 */
function* hasMovedOn(self: Self, { id, version }: NonNullable<Leaf['origin']>): Steps<boolean> {
  const now = yield* self.read(id);
  if (now?.version !== version || now.state !== 'live') return true;
  yield* self.write({ kind: 'commit', version, content: successor(now, self.drawId(), {}), put: undefined });
  const after = yield* self.read(id);
  return after?.version !== version;
}

/** Rule 14 (b): another live leaf that owns the low is the only proof. */
function* isUnreachable(self: Self, { id, low }: Leaf): Steps<boolean> {
  const branch = yield* self.readBranch();
  for (let next = entryAt(branch, low)!.child; ;) {
    const at = yield* self.read(next);
    if (at === undefined) return self.breaks('a-gap-proves-it');
    if (at.state !== 'live' && !self.breaks('any-leaf-ends-the-walk')) return false;
    if (owns(at, low)) return at.id !== id;
    if (low < at.low) return false;
    next = at.right!;
  }
}

/** Rule 29: drops entries whose separator is no leaf's low. */
export function* dropEntries(self: Self): Steps<void> {
  const branch = yield* self.readBranch();
  const lows = new Set<Position>();
  for (let next: Id | undefined = branch[0]!.child; next !== undefined;) {
    const leaf: Leaf | undefined = yield* self.read(next);
    if (leaf === undefined || leaf.state === 'merged') return;
    lows.add(leaf.low);
    next = leaf.right;
  }
  if (self.breaks('drops-no-entries')) return;
  for (const { separator, child } of branch)
    if (separator > 0 ? !lows.has(separator) : self.breaks('drops-the-first-entry'))
      yield { kind: 'repair', separator, expected: child, child: undefined };
}
