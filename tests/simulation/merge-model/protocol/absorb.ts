// A writer absorbs a retired leaf into its left neighbour, or links a copy of it (rule 27).
import { type Content, type Leaf, type Position } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';
import { commit, insert } from './commit.ts';

/** Ends a put that an absorb carried, with its result. */
export class PutEnded extends Error {
  readonly result: 'landed' | 'unknown';

  constructor(result: 'landed' | 'unknown') {
    super(result);
    this.result = result;
  }
}

/**
 * A writer finishes the merge (rules 27 and 28 (d)); a put to `key` may join. Gives the left leaf,
 * or undefined if it no longer lives.
 */
export function* finish(self: Self, left: Leaf, retired: Leaf, key?: Position): Steps<Leaf | undefined> {
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

export function withRecord({ next, records }: Pick<Content, 'next' | 'records'>, key: Position, value: string) {
  return { next: next + 1, records: { ...records, [key]: { value, number: next } } };
}

export function liveOrNone(leaf: Leaf | undefined): Leaf | undefined {
  return leaf?.state === 'live' ? leaf : undefined;
}

/** Rule 27: a copy under a fresh id, acknowledged before it is linked. */
function* insertCopy(self: Self, retired: Leaf): Steps<Leaf | undefined> {
  return yield* insert(self, {
    ...retired,
    id: self.drawId(),
    state: 'live',
    commits: [],
    origin: { id: retired.id, version: retired.version },
  });
}
