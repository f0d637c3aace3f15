// Searches to the left for the owner of a position that a leaf no longer alive had (rule 28).
import { entryAt, entryBelow, type Leaf, owns, type Position } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';
import { tellOfRight } from './hints.ts';

/** The tree seems damaged. It never is in the model, so this verdict is always false. */
export class Corrupt extends Error {}

/**
 * Decides at a live leaf that links a retired one (rule 28): gives the leaf to go on from, the one
 * that answers, or undefined if the live leaf no longer lives.
 */
type AtRetired = (self: Self, live: Leaf, retired: Leaf, key: Position) => Steps<Leaf | undefined>;

/** Rule 28 (c): to a live leaf left of the bound, then right by links, reading each. */
export function* search(self: Self, key: Position, bound: Position, atRetired: AtRetired): Steps<Leaf> {
  for (let rounds = 1; ; rounds += 1) {
    if (rounds > 1 && self.breaks('a-search-ends-in-corrupt')) throw new Corrupt('no leaf owns the key');
    const left = yield* liveLeafLeftOf(self, bound);
    const found = yield* walkRight(self, left, key, atRetired);
    if (found !== undefined) return found;
  }
}

export function* liveLeafLeftOf(self: Self, first: Position): Steps<Leaf> {
  const isRemembered = self.branch !== undefined && self.breaks('searches-by-the-remembered-branch');
  let branch = isRemembered ? self.branch : yield* self.readBranch();
  let missed = false;
  for (let bound = first; ;) {
    const entry = self.breaks('searches-at-the-low') ? entryAt(branch, bound) : entryBelow(branch, bound);
    if (entry === undefined) throw new Corrupt(`no leaf that lives lies left of ${bound}`);
    const leaf = yield* self.read(entry.child);
    if (leaf?.state === 'live' && leaf.low < bound) return leaf;
    if (leaf === undefined && entry === branch[0]) {
      // Rule 15: the leftmost child, missed again after the branch was read anew.
      if (missed) throw new Corrupt('the leftmost leaf is missing');
      missed = true;
      branch = yield* self.readBranch();
      continue;
    }
    if (leaf === undefined && self.breaks('missed-twice-is-corrupt')) {
      if (missed) throw new Corrupt(`${entry.child} is missing`);
      missed = true;
      branch = yield* self.readBranch();
      continue;
    }
    if (!self.breaks('bound-stays')) bound = Math.min(entry.separator, leaf?.low ?? entry.separator);
  }
}

/** Walks from a live leaf to the key's owner. Undefined if a leaf on the way no longer lives. */
function* walkRight(self: Self, from: Leaf, key: Position, atRetired: AtRetired): Steps<Leaf | undefined> {
  let live = from;
  while (!owns(live, key)) {
    if (key < live.low) return live;
    const id = live.right!;
    const remembered = self.breaks('walks-by-memory') ? self.known(id) : undefined;
    const next: Leaf | undefined = remembered ?? (yield* self.read(id));
    if (next?.state === 'live') {
      yield* tellOfRight(self, live);
      live = next;
      continue;
    }
    if (next?.state === 'retired') {
      const found = yield* atRetired(self, live, next, key);
      if (found === undefined || found.state !== 'live') return found;
      live = found;
      continue;
    }
    const again = yield* movedOn(self, live);
    if (again?.state !== 'live') return undefined;
    live = again;
  }
  return live;
}

/**
 * Rule 28 (a): links led from `live` to a missing or stripped leaf. Read again, `live` links
 * another leaf, or the tree is damaged: a retired leaf is absorbed before the one that it links.
 */
function* movedOn(self: Self, live: Leaf): Steps<Leaf | undefined> {
  if (self.breaks('a-miss-by-links-is-corrupt')) throw new Corrupt(`${live.id} led to what is missing`);
  const again = yield* self.read(live.id);
  if (again?.state === 'live' && again.right === live.right) throw new Corrupt(`${live.id} leads to what is missing`);
  return again;
}

/** Rule 28 (b): how a reader treats a retired leaf that a live one links. */
export function* serve(self: Self, live: Leaf, retired: Leaf, key: Position): Steps<Leaf | undefined> {
  let at = retired;
  while (!owns(at, key)) {
    if (self.breaks('serves-by-a-live-link-alone')) return yield* self.read(live.id);
    const next = yield* self.read(at.right!);
    if (next?.state === 'live') return next;
    // A retired leaf's link may be outdated. The live leaf tells.
    if (next?.state !== 'retired') return yield* movedOn(self, live);
    at = next;
  }
  return at;
}
