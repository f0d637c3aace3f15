// Google's emulators differ here from the protocol suite; the embedded server does not. Quotations
// are comments of datastore.proto, entity.proto and query.proto, or the service's named pages.
import type { Difference } from './declare.ts';

const ENTITY_SIZE = 'entity.proto: "Must not exceed 1 MiB - 4 bytes"';
const KEY_SIZE = 'takes it; limits page: a key has at most 6 KiB';
const LOOKUP_KEYS = 'takes them; limits page: at most 1,000 keys in a Lookup';
const REQUEST_SIZE = 'limits page: a request may have 10 MiB';
const MISSING_VERSION =
  'answers 0; query.proto, EntityResult.version: "this is the version of the snapshot that was used to look up the entity"';
const WAITS = 'locks what a transaction has read, and lets others wait for its end';
const SNAPSHOT = 'shows the new state; transactions page: reads see the database as it was when the transaction began';

export const FIRESTORE_DIFFERENCES: readonly Difference[] = [
  {
    case: 'the commit time is not set for non-transactional commits',
    why: 'sets it; datastore.proto, CommitResponse.commit_time: "Not set for non-transactional commits"',
  },
  {
    case: 'a write at an old version with SERVER_VALUE is not applied, and the result says so',
    why: 'overwrites; datastore.proto, Mutation: "Conflicting mutations are not applied"',
  },
  {
    case: 'a base version without a strategy means SERVER_VALUE',
    why: 'overwrites; datastore.proto, conflict_resolution_strategy: "Defaults to SERVER_VALUE"',
  },
  { case: 'an entity of 1,048,573 bytes is INVALID_ARGUMENT', why: `takes up to 1,048,576 bytes; ${ENTITY_SIZE}` },
  { case: 'a key of more than 6 KiB is INVALID_ARGUMENT', why: KEY_SIZE },
  { case: 'more than 1,000 keys in a lookup are INVALID_ARGUMENT', why: LOOKUP_KEYS },
  { case: 'a request of more than 10 MiB is INVALID_ARGUMENT', why: `answers RESOURCE_EXHAUSTED; ${REQUEST_SIZE}` },
  { case: 'a request of 9 MB is accepted', why: `takes 4 MiB; ${REQUEST_SIZE}` },
  { case: 'a lookup says what is missing, with the version of the snapshot', why: MISSING_VERSION },
  { case: 'a read of what another changes meanwhile aborts the commit', why: WAITS, hangs: true },
  { case: 'an entity that was missing and has come aborts the commit', why: WAITS, hangs: true },
  { case: 'an entity that was there and is gone aborts the commit', why: WAITS, hangs: true },
  { case: 'a query that would no longer find something aborts the commit', why: WAITS, hangs: true },
  { case: 'a query that would find something else by now aborts the commit', why: WAITS, hangs: true },
  { case: 'a transaction reads the state of its beginning', why: SNAPSHOT },
  {
    case: 'a read-only transaction is never aborted, and writes nothing',
    why: 'refuses its commit even of nothing; datastore.proto, Commit: "optionally creating, deleting or modifying some entities"',
  },
  {
    case: 'a read may begin a transaction',
    why: 'returns an id that cannot be committed; datastore.proto, ReadOptions: its identifier "will be returned in the corresponding response"',
    hangs: true,
  },
  {
    case: 'an entity with an array comes once, where its first value in the order is',
    why: 'repeats it for each value; query.proto, EntityResult.ResultType: only a PROJECTION is "A projected subset of properties"',
  },
  {
    case: 'an offset says how much was skipped, and where',
    why: 'gives no cursor; query.proto, skipped_cursor: "Will be set when skipped_results != 0"',
  },
];

const MASK = 'datastore.proto, Mutation.property_mask: others "are left untouched"';
const NO_CHANGE =
  'takes another order of the properties for a change; datastore.proto, MutationResult.version: then it "will be the version of the current entity"';
const LOOKUP_MASK = 'shows all; datastore.proto, property_mask: a property outside the mask "will be absent"';

export const LEGACY_DIFFERENCES: readonly Difference[] = [
  { case: 'a write that changes nothing keeps the version', why: NO_CHANGE },
  {
    case: 'a result says when an entity was created and changed',
    why: 'leaves the times out; datastore.proto, MutationResult.create_time: "will not be set after a \'delete\'" only',
  },
  {
    case: 'a write at a version of what is gone is FAILED_PRECONDITION',
    why: 'answers NOT_FOUND to an update; datastore.proto, FAIL: "The whole commit request fails" for a conflict',
  },
  { case: 'a mask leaves the properties outside alone', why: `replaces the entity; ${MASK}` },
  { case: 'a property in the mask that is not given is deleted', why: `replaces the entity; ${MASK}` },
  { case: 'a masked write that changes nothing keeps the version', why: `replaces the entity; ${MASK}` },
  {
    case: 'an unindexed string of 1,048,488 bytes is INVALID_ARGUMENT',
    why: 'takes it; entity.proto, string_value: "at most 1,000,000 bytes"',
  },
  { case: 'an entity of 1,048,573 bytes is INVALID_ARGUMENT', why: `has no limit; ${ENTITY_SIZE}` },
  { case: 'an entity of 1,048,577 bytes is INVALID_ARGUMENT', why: `has no limit; ${ENTITY_SIZE}` },
  {
    case: 'a patch that makes an entity too large is INVALID_ARGUMENT and changes nothing',
    why: `has no limit; ${ENTITY_SIZE}`,
  },
  { case: 'a key of more than 6 KiB is INVALID_ARGUMENT', why: KEY_SIZE },
  { case: 'more than 1,000 keys in a lookup are INVALID_ARGUMENT', why: LOOKUP_KEYS },
  { case: 'a request of more than 10 MiB is INVALID_ARGUMENT', why: `cancels the call; ${REQUEST_SIZE}` },
  { case: 'a request of 9 MB is accepted', why: `cancels the call; ${REQUEST_SIZE}` },
  {
    case: 'a request without a project is INVALID_ARGUMENT',
    why: 'answers UNKNOWN; datastore.proto, project_id: "Required"',
  },
  {
    case: 'a key that is asked for twice is found once',
    why: 'repeats it; datastore.proto does not say; the newer emulator does not repeat it',
  },
  { case: 'a mask shows only what it names', why: LOOKUP_MASK },
  { case: 'a mask of the key alone shows no property', why: LOOKUP_MASK },
  { case: 'a query shows only what its mask names', why: LOOKUP_MASK },
  { case: 'a transaction reads the state of its beginning', why: SNAPSHOT },
  {
    case: 'a rollback of what has ended is fine',
    why: 'refuses it after a rollback; datastore.proto does not say; the newer emulator takes it',
  },
  {
    case: 'a commit may be a transaction of its own, with a commit time',
    why: 'leaves the time out; datastore.proto, commit_time: "The transaction commit timestamp"',
  },
  {
    case: 'sequences that make no sense are INVALID_ARGUMENT',
    why: 'answers ALREADY_EXISTS or NOT_FOUND; datastore.proto: the sequences "are not permitted in a single Commit request"',
  },
  {
    case: 'a descending order turns ties around too',
    why: 'sorts ties by ascending keys; query.proto does not say; the newer emulator, made from the service, turns them around',
  },
  {
    case: 'the results after the last are none, and the answer says so',
    why: 'never says it; query.proto, NO_MORE_RESULTS: "The query is finished, and there are no more results"',
  },
];
