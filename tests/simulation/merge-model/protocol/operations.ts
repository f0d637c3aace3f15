// The operations, by the rules. A mutant breaks a rule where the code asks `self.breaks`.
import { type Leaf, type Operation, owns, type Position, recordsWithin, type Result } from '../leaf.ts';
import { type Self, type Steps } from '../self.ts';
import { PutEnded, withRecord } from './absorb.ts';
import { commit, insert } from './commit.ts';
import { type Hint, hintOf, mend, route } from './hints.ts';
import { ownerForReading, ownerForWriting } from './owners.ts';
import { dropEntries, merge, removeOrphan, strip } from './vacuum.ts';

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

/** A strong get: memory shows the way, but the answer is read by this operation. */
function* get(self: Self, key: Position): Steps<string | undefined> {
  const entry = yield* route(self, key);
  const leaf = yield* ownerForReading(self, key, hintOf(entry));
  yield* mend(self, entry, key);
  return leaf.records[key]?.value;
}

/** Rules 8 and 9: inserts the new leaf, then links it on the version that it was made from. */
function* split(self: Self, at: Position): Steps<void> {
  const entry = yield* route(self, at);
  const base = yield* ownerForSplitting(self, at, hintOf(entry));
  if (base === undefined || base.low === at) return;
  const right = yield* insert(self, {
    ...base,
    id: self.drawId(),
    state: 'live',
    low: at,
    commits: [],
    records: recordsWithin(base.records, at, base.high),
    origin: { id: base.id, version: base.version },
  });
  if (right === undefined) return;
  if (self.breaks('announces-before-the-link')) yield* announce(self, right);
  const link = ({ low, records }: Leaf) => ({ high: at, right: right.id, records: recordsWithin(records, low, at) });
  let outcome = yield* commit(self, base, link);
  if (outcome.kind === 'lost' && self.breaks('links-on-another-base') && owns(outcome.now, at))
    outcome = yield* commit(self, outcome.now, link);
  if (outcome.kind === 'landed') yield* announce(self, right);
}

/** Rules 11 and 12: a linked leaf may be remembered, and the branch told of it. */
function* announce(self: Self, right: Leaf): Steps<void> {
  self.remember(right);
  yield { kind: 'repair', separator: right.low, expected: undefined, child: right.id };
}

function* ownerForSplitting(self: Self, at: Position, hint: Hint): Steps<Leaf | undefined> {
  const known = self.known(hint.id) ?? (yield* self.read(hint.id));
  if (known?.state === 'retired' && owns(known, at) && self.breaks('splits-a-retired-leaf')) return known;
  return yield* ownerForWriting(self, at, hint);
}
