// The operations, by the rules. Each place where a mutant breaks a rule asks `self.breaks`.
import {
  commitAt,
  type Content,
  type Entry,
  entryAt,
  entryBelow,
  type Id,
  type Leaf,
  type Operation,
  owns,
  type Position,
  recordsWithin,
  type Result,
  successor,
} from './leaf.ts';
import { type Self, type Steps } from './self.ts';

/** The tree is taken for damaged. In the model it never is, so this is always false. */
export class Corrupt extends Error {}

/** A put that went along with an absorb has its result. */
class PutEnded extends Error {
  readonly result: 'landed' | 'unknown';

  constructor(result: 'landed' | 'unknown') {
    super(result);
    this.result = result;
  }
}

/** Where to look next, and where what is there should begin at the latest. */
interface Hint {
  readonly id: Id;
  readonly at: Position;
}

type Outcome =
  /** `now`: the leaf as it was seen last. */
  | { readonly kind: 'landed' | 'lost'; readonly now: Leaf }
  /** The leaf is missing. */
  | { readonly kind: 'unknown' };

export function* perform(self: Self, operation: Operation): Steps<Result> {
  switch (operation.kind) {
    case 'put':
      return yield* put(self, operation.key, operation.value);
    case 'get':
      return { kind: 'value', value: yield* get(self, operation.key) };
    case 'split':
      yield* split(self, operation.at);
      break;
    case 'merge':
      yield* merge(self, operation.low);
      break;
    case 'strip':
      yield* strip(self, operation.id);
      break;
    case 'vacuum':
      yield* removeOrphan(self, operation.id);
      break;
    case 'drop entries':
      yield* dropEntries(self);
      break;
    default:
      operation satisfies never;
  }
  return { kind: 'ended' };
}

function* put(self: Self, key: Position, value: string): Steps<Result> {
  const entry = yield* route(self, key);
  self.put = value;
  let result: PutEnded['result'];
  try {
    result = yield* commitPut(self, key, value, hintOf(entry));
  } catch (error) {
    if (!(error instanceof PutEnded)) throw error;
    ({ result } = error);
  }
  if (result === 'landed') yield* mend(self, entry, key);
  return { kind: result };
}

function* commitPut(self: Self, key: Position, value: string, hint: Hint): Steps<PutEnded['result']> {
  let leaf = yield* ownerForWriting(self, key, hint);
  for (;;) {
    const outcome = yield* commit(self, leaf, (base) => withRecord(base, key, value), value);
    if (outcome.kind !== 'lost') return outcome.kind;
    leaf = yield* ownerForWriting(self, key, { id: outcome.now.id, at: outcome.now.low });
  }
}

function withRecord({ next, records }: Pick<Content, 'next' | 'records'>, key: Position, value: string) {
  return { next: next + 1, records: { ...records, [key]: { value, number: next } } };
}

/** A strong get: memory shows the way, but what answers was read by a request of this operation. */
function* get(self: Self, key: Position): Steps<string | undefined> {
  const entry = yield* route(self, key);
  const leaf = yield* ownerForReading(self, key, hintOf(entry));
  yield* mend(self, entry, key);
  return leaf.records[key]?.value;
}

function* route(self: Self, key: Position): Steps<Entry> {
  return entryAt(self.branch ?? (yield* self.readBranch()), key)!;
}

function hintOf({ child, separator }: Entry): Hint {
  return { id: child, at: separator };
}

function rightOf({ right, high }: Leaf): Hint {
  return { id: right!, at: high };
}

/** The live leaf that owns the key, remembered or read: the condition of the commit decides. Rule 28 (a), (c), (d). */
function* ownerForWriting(self: Self, key: Position, from: Hint): Steps<Leaf> {
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

/** Rule 28 (d): a writer goes on at the leaf where the search ended. */
function* goOn(self: Self, key: Position, found: Leaf): Steps<Leaf> {
  if (!self.breaks('routes-again-after-helping')) return found;
  return yield* ownerForWriting(self, key, hintOf(yield* route(self, key)));
}

/** A leaf whose content answers for the key: rule 28 (a) to (c). */
function* ownerForReading(self: Self, key: Position, from: Hint): Steps<Leaf> {
  // Whether a live leaf, read by this operation, led here by links, directly or through retired leaves.
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

/** What a search does where a live leaf links to a retired one: the leaf to go on from, what answers, or undefined if the live leaf is not live any more. */
type AtRetired = (self: Self, live: Leaf, retired: Leaf, key: Position) => Steps<Leaf | undefined>;

/** Rule 28 (c): left of the bound to a live leaf, then right by links, each of them read. */
function* search(self: Self, key: Position, bound: Position, atRetired: AtRetired): Steps<Leaf> {
  for (let rounds = 1; ; rounds += 1) {
    if (rounds > 1 && self.breaks('a-search-ends-in-corrupt')) throw new Corrupt('no leaf owns the key');
    const left = yield* liveLeafLeftOf(self, bound);
    const found = yield* walkRight(self, left, key, atRetired);
    if (found !== undefined) return found;
  }
}

function* liveLeafLeftOf(self: Self, first: Position): Steps<Leaf> {
  const isRemembered = self.branch !== undefined && self.breaks('searches-by-the-remembered-branch');
  let branch = isRemembered ? self.branch! : yield* self.readBranch();
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
    // The leaf that linked to it has moved on since it was read.
    const again = yield* self.read(live.id);
    if (again?.state !== 'live') return undefined;
    // Rule 15: a live leaf, read after the miss, still links to what is missing.
    if (next === undefined && again.right === id) throw new Corrupt(`${live.id} links to ${id}, which is missing`);
    live = again;
  }
  return live;
}

/** Rule 28 (b): the reader's way with a retired leaf that a live one links to. */
function* serve(self: Self, live: Leaf, retired: Leaf, key: Position): Steps<Leaf | undefined> {
  let at = retired;
  while (!owns(at, key)) {
    if (self.breaks('serves-by-a-live-link-alone')) return yield* self.read(live.id);
    const next = yield* self.read(at.right!);
    if (next?.state === 'live') return next;
    // What a retired leaf links to may be the past: the live leaf tells.
    if (next?.state !== 'retired') return yield* self.read(live.id);
    at = next;
  }
  return at;
}

/** The writer's way: it finishes the pair (rules 27 and 28 (d)). */
function* finish(self: Self, left: Leaf, retired: Leaf, key?: Position): Steps<Leaf | undefined> {
  if (self.breaks('waits-for-the-merger')) return yield* self.read(left.id);
  let copy: Leaf | undefined;
  for (let base = left; ;) {
    if (self.copies) {
      copy ??= yield* insertCopy(self, retired);
      if (copy === undefined) return liveOrNone(yield* self.read(base.id));
    }
    const put = copy === undefined && self.carries && key !== undefined && key < retired.high ? self.put : undefined;
    const outcome = yield* commit(
      self,
      base,
      (base) => {
        if (copy !== undefined) return { right: copy.id };
        const joined = join(self, base, retired);
        return put === undefined ? joined : { ...joined, ...withRecord(joined, key!, put) };
      },
      put,
    );
    if (outcome.kind !== 'lost' && put !== undefined) throw new PutEnded(outcome.kind);
    if (outcome.kind === 'unknown') return undefined;
    base = outcome.now;
    if (base.state === 'retired' && self.breaks('absorbs-into-a-retired-leaf')) continue;
    if (base.state !== 'live') return undefined;
    if (outcome.kind === 'lost' && self.breaks('absorbs-on-any-version')) continue;
    if (base.right !== retired.id) return base;
  }
}

function join(self: Self, { next, records }: Leaf, retired: Leaf) {
  return {
    high: retired.high,
    right: retired.right,
    next: self.breaks('keeps-its-own-next-number') ? next : Math.max(next, retired.next),
    records: { ...records, ...retired.records },
  };
}

function liveOrNone(leaf: Leaf | undefined): Leaf | undefined {
  return leaf?.state === 'live' ? leaf : undefined;
}

/** Rule 27: a copy under a fresh id, acknowledged before it is linked. */
function* insertCopy(self: Self, retired: Leaf): Steps<Leaf | undefined> {
  const { version, ...content } = retired;
  const id = self.drawId();
  return yield* insert(self, {
    ...content,
    id,
    state: 'live',
    commits: [],
    origin: { id: retired.id, version },
  });
}

/** Rules 2 and 9: acknowledged, or read back. A fresh id that is taken was taken by this very insert. */
function* insert(self: Self, content: Content): Steps<Leaf | undefined> {
  const answer = yield* self.write({ kind: 'insert', content });
  if (answer.kind === 'written') return { ...content, version: answer.version };
  if (self.breaks('links-unacknowledged-leaves')) return { ...content, version: 1 };
  return yield* self.read(content.id);
}

/**
 * A commit that is tried until it landed or never will (rule 3). All attempts on one base compete for one place in the leaf's list of commits,
 * and that leaf tells which of them has it, whatever became of the leaf since (rule 31).
 */
function* commit(
  self: Self,
  base: Leaf,
  change: (base: Leaf) => Partial<Content>,
  put?: string,
): Steps<Outcome> {
  const attempts: Id[] = [];
  for (;;) {
    const id = self.drawId();
    attempts.push(id);
    const content = successor(base, id, change(base));
    const answer = yield* self.write({ kind: 'commit', version: base.version, content, put });
    if (answer.kind === 'written') {
      const now = { ...content, version: answer.version };
      self.remember(now);
      return { kind: 'landed', now };
    }
    const now = yield* self.read(base.id);
    if (now === undefined) {
      if (answer.kind === 'refused' && self.breaks('missing-means-lost')) return { kind: 'lost', now: base };
      return { kind: 'unknown' };
    }
    if (now.version === base.version) continue;
    if (now.state !== 'live' && self.breaks('retired-means-lost')) return { kind: 'lost', now };
    const landed = commitAt(now, base.count + 1);
    if (landed === undefined) return { kind: 'unknown' };
    return { kind: attempts.includes(landed) ? 'landed' : 'lost', now };
  }
}

/** Rules 8 and 9. */
function* split(self: Self, at: Position): Steps<void> {
  const entry = yield* route(self, at);
  const base = yield* ownerForSplitting(self, at, hintOf(entry));
  if (base === undefined || base.low === at) return;
  const { version, ...content } = base;
  const right = yield* insert(self, {
    ...content,
    id: self.drawId(),
    state: 'live',
    low: at,
    commits: [],
    records: recordsWithin(base.records, at, base.high),
    origin: { id: base.id, version },
  });
  if (right === undefined) return;
  const link = ({ low, records }: Leaf) => ({ high: at, right: right.id, records: recordsWithin(records, low, at) });
  let outcome = yield* commit(self, base, link);
  if (outcome.kind === 'lost' && self.breaks('links-on-another-base') && owns(outcome.now, at))
    outcome = yield* commit(self, outcome.now, link);
  if (outcome.kind !== 'landed') return;
  self.remember(right);
  yield { kind: 'repair', separator: at, expected: undefined, child: right.id };
}

function* ownerForSplitting(self: Self, at: Position, hint: Hint): Steps<Leaf | undefined> {
  const known = self.known(hint.id) ?? (yield* self.read(hint.id));
  if (known?.state === 'retired' && owns(known, at) && self.breaks('splits-a-retired-leaf')) return known;
  return yield* ownerForWriting(self, at, hint);
}

/** Rules 26, 27 and 32: retires the leaf that begins at `low` and brings its content into its left neighbour. */
function* merge(self: Self, low: Position): Steps<void> {
  if (low === 0) return yield* retireLeftmost(self);
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

/** The live leaf that ends at `low` or beyond; undefined if one on the way was live no more. */
function* leftNeighbour(self: Self, low: Position): Steps<Leaf | undefined> {
  let at: Leaf | undefined = yield* liveLeafLeftOf(self, low);
  while (at?.state === 'live' && at.high < low) {
    const next: Leaf | undefined = yield* self.read(at.right!);
    at = next?.state === 'retired' ? yield* finish(self, at, next) : next;
  }
  return liveOrNone(at);
}

/** Rule 30: a retired leaf whose absorbing is proved becomes a header alone. */
function* strip(self: Self, id: Id): Steps<void> {
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

/** Rule 14: removes a leaf that nothing links and nothing will link. */
function* removeOrphan(self: Self, id: Id): Steps<void> {
  const leaf = yield* self.read(id);
  if (leaf?.state !== 'live' || leaf.origin === undefined) return;
  if (!self.breaks('fences-no-origin') && !(yield* hasMovedOn(self, leaf.origin))) return;
  if (yield* isUnreachable(self, leaf)) yield* self.write({ kind: 'remove', id, version: leaf.version });
}

/** (a) No split from that version can land any more. A retired origin splits no more, and what copies it (b) tells. */
function* hasMovedOn(self: Self, { id, version }: NonNullable<Leaf['origin']>): Steps<boolean> {
  const now = yield* self.read(id);
  if (now?.version !== version || now.state !== 'live') return true;
  yield* self.write({ kind: 'commit', version, content: successor(now, self.drawId(), {}), put: undefined });
  const after = yield* self.read(id);
  return after?.version !== version;
}

/** (b) Only a live leaf that owns the low, and is another, proves it. */
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

/** Rule 29: takes out entries whose separator is no leaf's low. */
function* dropEntries(self: Self): Steps<void> {
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

/** Rule 11: tells the branch of a right neighbour that it does not know. */
function* tellOfRight(self: Self, { state, high, right }: Leaf): Steps<void> {
  if (state !== 'live' || self.branch?.some(({ separator }) => separator === high) === true) return;
  yield { kind: 'repair', separator: high, expected: undefined, child: right! };
}

/** Rule 29: an entry that led astray is set to the live leaf that owns its separator, if this operation saw it. */
function* mend(self: Self, { separator, child }: Entry, key: Position): Steps<void> {
  const position = self.breaks('repairs-to-the-owner-of-the-key') ? key : separator;
  const owner = self.live.findLast((leaf) => owns(leaf, position));
  if (owner === undefined || owner.id === child) return;
  if (self.breaks('keeps-entries-that-lead-astray')) return;
  if (self.known(child)?.state === 'live' && self.breaks('keeps-overtaken-entries')) return;
  yield { kind: 'repair', separator, expected: child, child: owner.id };
}
