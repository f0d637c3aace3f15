// Writes and their outcomes: inserts (rules 2 and 9) and commits (rules 3 and 31).
import { commitAt, type Content, type Id, type Leaf, successor } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';

type Outcome =
  /** `now` is the leaf as seen last. */
  | { readonly kind: 'landed' | 'lost'; readonly now: Leaf }
  /** The leaf is missing. */
  | { readonly kind: 'unknown' };

/** Rules 2 and 9: acknowledged, or read back. If a fresh id is taken, this very insert took it. */
export function* insert(self: Self, content: Content): Steps<Leaf | undefined> {
  const answer = yield* self.write({ kind: 'insert', content });
  if (answer.kind === 'written') return { ...content, version: answer.version };
  if (self.breaks('links-unacknowledged-leaves')) return { ...content, version: 1 };
  return yield* self.read(content.id);
}

/**
 * Tries a commit until it landed or never will (rule 3). All attempts on one base compete for one
 * place in the leaf's list, which tells the winner even once the leaf retired (rule 31).
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
