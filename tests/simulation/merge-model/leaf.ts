// The parts of the model: leaves, entries of the branch, writes. Positions are whole numbers; the
// leftmost leaf begins at 0.

export type Id = string;
export type Position = number;

export interface Stored {
  readonly value: string;
  /** The record's version, which grows with every change of the record. */
  readonly number: number;
}

/** The content of a leaf, as a write brings it. */
export interface Content {
  readonly id: Id;
  readonly state: 'live' | 'retired' | 'merged';
  readonly low: Position;
  readonly high: Position;
  readonly right: Id | undefined;
  /** The number that the next change takes. */
  readonly next: number;
  readonly count: number;
  /** The ids of the last commits. A new leaf has none. */
  readonly commits: readonly Id[];
  readonly records: Readonly<Record<Position, Stored>>;
  /** The leaf that this one was split or copied from, at that version. */
  readonly origin: { readonly id: Id; readonly version: number } | undefined;
}

export interface Leaf extends Content {
  /** The provider's version. Every write changes it, and an id never has one twice. */
  readonly version: number;
}

/** A hint for the positions from its separator to the next entry's. */
export interface Entry {
  readonly separator: Position;
  readonly child: Id;
}

/**
 * Changes the entry at `separator` if it still names `expected`, or if `expected` is undefined and
 * there is none. Without `child` the entry goes.
 */
export interface Repair {
  readonly kind: 'repair';
  readonly separator: Position;
  readonly expected: Id | undefined;
  readonly child: Id | undefined;
}

export type Write =
  | { readonly kind: 'insert'; readonly content: Content }
  | {
      readonly kind: 'commit';
      readonly version: number;
      readonly content: Content;
      /** The value of the put that this commit carries, if any. */
      readonly put: string | undefined;
    }
  | { readonly kind: 'remove'; readonly id: Id; readonly version: number };

export type Answer =
  { readonly kind: 'written'; readonly version: number } | { readonly kind: 'refused' } | { readonly kind: 'unknown' };

export type Operation =
  | { readonly kind: 'put'; readonly key: Position; readonly value: string }
  | { readonly kind: 'get'; readonly key: Position }
  | { readonly kind: 'split'; readonly at: Position }
  | { readonly kind: 'merge'; readonly low: Position }
  | { readonly kind: 'strip'; readonly id: Id }
  | { readonly kind: 'vacuum'; readonly id: Id }
  | { readonly kind: 'drop entries' };

export type Result =
  | { readonly kind: 'landed' }
  | { readonly kind: 'value'; readonly value: string | undefined }
  /** Nothing can tell any more whether the put took effect. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'corrupt'; readonly why: string }
  /** The result of an operation that no caller awaits. */
  | { readonly kind: 'ended' };

export function owns({ low, high }: Content, position: Position): boolean {
  return low <= position && position < high;
}

/** The leaf after one more commit. Every write hands on ids and count (rule 4). */
export function successor(base: Content, commit: Id, changes: Partial<Content>): Content {
  const changed = { ...base, ...changes };
  return { ...changed, count: base.count + 1, commits: [...changed.commits, commit] };
}

/** The id of the leaf's commit of that number; undefined if it left the list. */
export function commitAt({ count, commits }: Content, number: number): Id | undefined {
  return commits[number - (count - commits.length) - 1];
}

export function recordsWithin(records: Content['records'], low: Position, high: Position): Content['records'] {
  return Object.fromEntries(Object.entries(records).filter(([key]) => low <= Number(key) && Number(key) < high));
}

/** The entry for the position; undefined if the position lies left of all entries. */
export function entryAt(branch: readonly Entry[], position: Position): Entry | undefined {
  return branch.findLast(({ separator }) => separator <= position);
}

/** The last entry whose separator lies strictly below the bound. */
export function entryBelow(branch: readonly Entry[], bound: Position): Entry | undefined {
  return branch.findLast(({ separator }) => separator < bound);
}
