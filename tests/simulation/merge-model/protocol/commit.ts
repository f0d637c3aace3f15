// Writes, and what became of them: inserts (rules 2 and 9) and commits (rules 3 and 31).
import { commitAt, type Content, type Id, type Leaf, successor } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';

type Outcome =
  /** `now`: the leaf as it was seen last. */
  | { readonly kind: 'landed' | 'lost'; readonly now: Leaf }
  /** The leaf is missing. */
  | { readonly kind: 'unknown' };

/** Rules 2 and 9: acknowledged, or read back. A fresh id that is taken was taken by this very insert. */
export function* insert(self: Self, content: Content): Steps<Leaf | undefined> {
  const answer = yield* self.write({ kind: 'insert', content });
  if (answer.kind === 'written') return { ...content, version: answer.version };
  if (self.breaks('links-unacknowledged-leaves')) return { ...content, version: 1 };
  return yield* self.read(content.id);
}

/**
 * A commit that is tried until it landed or never will (rule 3). All attempts on one base compete for one place in the leaf's list of commits,
 * and that leaf tells which of them has it, whatever became of the leaf since (rule 31).
 */
export function* commit(
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
