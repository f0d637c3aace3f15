// What the model of merging is made of: leaves, routing entries, writes. A position is a whole number; the leftmost leaf begins at 0.

export type Id = string;
export type Position = number;

export interface Stored {
  readonly value: string;
  /** The record's version: it must grow with every change of the record. */
  readonly number: number;
}

/** What a write puts into a leaf. */
export interface Content {
  readonly id: Id;
  readonly state: 'live' | 'retired' | 'merged';
  readonly low: Position;
  readonly high: Position;
  readonly right: Id | undefined;
  /** The number that the next change takes. */
  readonly next: number;
  readonly count: number;
  /** The ids of the last commits; of a new leaf none. */
  readonly commits: readonly Id[];
  readonly records: Readonly<Record<Position, Stored>>;
  /** The leaf, at the version, that this one was split from or copied from. */
  readonly origin: { readonly id: Id; readonly version: number } | undefined;
}

export interface Leaf extends Content {
  /** The provider's: another after every write, and never the same again for one id. */
  readonly version: number;
}

/** From its separator on to the next one: a hint. */
export interface Entry {
  readonly separator: Position;
  readonly child: Id;
}

/** Changes the entry at `separator` if it names `expected` still; undefined: if there is none. `child` undefined takes the entry out. */
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
      /** The value that this commit is to make visible, if it is a put's. */
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
  /** Whether the put took effect can no longer be told. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'corrupt'; readonly why: string }
  /** Of what nobody waits for. */
  | { readonly kind: 'ended' };

export function owns({ low, high }: Content, position: Position): boolean {
  return low <= position && position < high;
}

/** The leaf as one more commit leaves it: every write hands on ids and count (rule 4). */
export function successor(base: Content, commit: Id, changes: Partial<Content>): Content {
  const changed = { ...base, ...changes };
  return { ...changed, count: base.count + 1, commits: [...changed.commits, commit] };
}

/** The id of the leaf's commit with that number; undefined if the list does not hold it. */
export function commitAt({ count, commits }: Content, number: number): Id | undefined {
  return commits[number - (count - commits.length) - 1];
}

export function recordsWithin(records: Content['records'], low: Position, high: Position): Content['records'] {
  return Object.fromEntries(Object.entries(records).filter(([key]) => low <= Number(key) && Number(key) < high));
}

/** The entry that stands for the position; undefined if it lies left of all. */
export function entryAt(branch: readonly Entry[], position: Position): Entry | undefined {
  return branch.findLast(({ separator }) => separator <= position);
}

/** The last entry whose separator is strictly below. */
export function entryBelow(branch: readonly Entry[], bound: Position): Entry | undefined {
  return branch.findLast(({ separator }) => separator < bound);
}
