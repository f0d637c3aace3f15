// The search to the left for what a leaf that is not live had (rule 28).
import { entryAt, entryBelow, type Leaf, owns, type Position } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';
import { tellOfRight } from './hints.ts';

/** The tree is taken for damaged. In the model it never is, so this is always false. */
export class Corrupt extends Error {}

/** What a search does where a live leaf links to a retired one: the leaf to go on from, what answers, or undefined if the live leaf is not live any more. */
type AtRetired = (self: Self, live: Leaf, retired: Leaf, key: Position) => Steps<Leaf | undefined>;

/** Rule 28 (c): left of the bound to a live leaf, then right by links, each of them read. */
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

/** From a live leaf to the one that owns the key; undefined if a leaf on the way was found to be live no more. */
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
 * Rule 28 (a): links led from the live leaf, directly or by retired ones, to one that is missing or stripped. The live leaf, read again after that: it links
 * another by now, or the tree is damaged, for what a retired leaf links to is not absorbed before it is itself.
 */
function* movedOn(self: Self, live: Leaf): Steps<Leaf | undefined> {
  if (self.breaks('a-miss-by-links-is-corrupt')) throw new Corrupt(`${live.id} led to what is missing`);
  const again = yield* self.read(live.id);
  if (again?.state === 'live' && again.right === live.right) throw new Corrupt(`${live.id} leads to what is missing`);
  return again;
}

/** Rule 28 (b): the reader's way with a retired leaf that a live one links to. */
export function* serve(self: Self, live: Leaf, retired: Leaf, key: Position): Steps<Leaf | undefined> {
  let at = retired;
  while (!owns(at, key)) {
    if (self.breaks('serves-by-a-live-link-alone')) return yield* self.read(live.id);
    const next = yield* self.read(at.right!);
    if (next?.state === 'live') return next;
    // What a retired leaf links to may be the past: the live leaf tells.
    if (next?.state !== 'retired') return yield* movedOn(self, live);
    at = next;
  }
  return at;
}
