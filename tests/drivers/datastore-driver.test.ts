// The Datastore driver over scripted calls, which answer as no emulator can be made to.
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { driverOn } from '../../shared/drivers/datastore/datastore-driver.ts';
import type { DatastoreCalls } from '../../shared/drivers/datastore/datastore-calls.ts';
import { StatusError } from '../../shared/drivers/datastore/grpc/call.ts';
import { idOf, partsOf } from '../../shared/drivers/datastore/entity-mapping.ts';
import type { EntityResult, Key, LookupResponse, Mutation } from '../../shared/drivers/datastore/messages/messages.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import type { StoreError } from '../../shared/store/index.ts';
import { CALL, insert, listAll, part } from '../../shared/drivers/conformance/check-calls.ts';
import { entityId } from '../support/ids.ts';
import { A, PATCH, READ, REMOVALS, REPLACE } from './one-of-each.ts';

const SPACE = { projectId: 'p', databaseId: '', namespace: '', kind: 'Container' };
const LIMITS = memoryDriver().limits;

async function never(): Promise<never> {
  throw new Error('not expected');
}

/** As if each key had been found, without properties. */
function found(key: Key): EntityResult {
  return { version: '1', entity: { key, properties: {} } };
}

/** A key as a listing gives it. */
function keyNamed(name: string): Key {
  return { path: [{ kind: SPACE.kind, name }] };
}

function scripted(calls: Partial<DatastoreCalls>, doubtful = false) {
  const all = { lookup: never, commit: never, runQuery: never, close: async () => {}, ...calls };
  return driverOn(all, { space: SPACE, limits: LIMITS, doubtful });
}

function verdict(code: number, message = 'said by a test'): StatusError {
  return new StatusError(code, message, { isVerdict: true });
}

function failing(code: number): Partial<DatastoreCalls> {
  const fail = async () => {
    throw verdict(code);
  };
  return { commit: fail, lookup: fail, runQuery: fail };
}

const OTHER = insert(entityId('b'), [part('h', 'x')]);
const UNKNOWN = { kind: 'unknown', reason: 'other' };
const UNSENT = { kind: 'refused', reason: 'unsent', cause: { code: 'unavailable', retryable: true } };

const outcomeOf = (reason: string) => ({ kind: /other|throttled/.test(reason) ? 'unknown' : 'refused', reason });

test.each([
  [2, 'other', 'other', 'other', true],
  [3, 'invalid', 'invalid', 'other', false],
  [4, 'other', 'other', 'other', true],
  // An insert states no version: 5 and 9 speak of the database, and 10 of nothing.
  [5, 'condition', 'denied', 'other', false],
  [6, 'condition', 'condition', 'other', true],
  [7, 'denied', 'denied', 'denied', false],
  [8, 'throttled', 'throttled', 'throttled', true],
  [9, 'condition', 'denied', 'other', false],
  [10, 'condition', 'other', 'other', true],
  [12, 'invalid', 'invalid', 'other', false],
  [13, 'other', 'other', 'other', true],
  [14, 'other', 'other', 'other', true],
  [16, 'denied', 'denied', 'denied', false],
])(
  'rule 1: code %i: a lone change is %s, a lone insert %s, each of several %s; a read retryable: %s',
  async (code, ...told) => {
    const [ofChange, ofInsert, ofSeveral, retryable] = told;
    const driver = scripted(failing(code));
    for (const change of [PATCH, REPLACE])
      expect(await driver.write([change], CALL)).toMatchObject([outcomeOf(ofChange)]);
    expect(await driver.remove(REMOVALS, CALL)).toMatchObject([outcomeOf(ofChange)]);
    expect(await driver.write([OTHER], CALL)).toMatchObject([outcomeOf(ofInsert)]);
    expect(await driver.write([PATCH, OTHER], CALL)).toMatchObject([outcomeOf(ofSeveral), outcomeOf(ofSeveral)]);
    const error = { code: code === 8 ? 'throttled' : 'unavailable', retryable };
    await expect(driver.read(READ, CALL)).rejects.toMatchObject(error);
    await expect(driver.list('', undefined, 1, CALL)).rejects.toMatchObject(error);
  },
);

// In Google's words; the codes do not tell these apart.
test.each([
  [7, 'Missing or insufficient permissions.', 'datastore denies access, grant roles/datastore.user'],
  [
    7,
    'Cloud Datastore API has not been used in project p before or it is disabled.',
    'datastore denies access, enable the Cloud Datastore API in the project',
  ],
  [16, 'Invalid authentication.', 'datastore does not take the credentials, run gcloud auth application-default login'],
  [7, 'Permission denied on resource project p.', 'datastore denies access, correct projectId'],
  [5, 'The database (default) does not exist for project p', 'datastore has no such database, create it'],
  [
    9,
    'The Cloud Datastore API is not available for Firestore in Native Mode databases.',
    'datastore refuses, the database must be one in Datastore mode',
  ],
])('a denial (%i %s) says what to do, and the text', async (code, text, advice) => {
  const fail = async () => {
    throw verdict(code, text);
  };
  const driver = scripted({ lookup: fail, commit: fail });
  const denied = (await driver.read(READ, CALL).catch((error: unknown) => error)) as StoreError;
  expect(denied).toMatchObject({ code: 'unavailable', retryable: false });
  expect(denied.message).toContain(advice);
  expect(denied.message).toContain(`: ${text}`);
  const outcome = { kind: 'refused', reason: 'denied', cause: { message: denied.message, retryable: false } };
  expect(await driver.write([OTHER], CALL)).toMatchObject([outcome]);
  // The probe is denied.
  const doubtful = scripted({ lookup: fail, commit: fail }, true);
  expect(await doubtful.write([PATCH], CALL)).toMatchObject([outcome]);
  expect(await doubtful.remove(REMOVALS, CALL)).toMatchObject([outcome]);
});

test.each([
  'entity is too big',
  'maximum entity size is 1048576 bytes',
  'the entity has 1800081 bytes; it must not be larger than 1048572 bytes',
  'The value of property "p0" is longer than 1048487 bytes.',
  'cannot be written because its size (1,048,684 bytes) exceeds the maximum allowed size of 1,048,576 bytes.',
])('a write is refused for its size where the service says so: %s', async (message) => {
  const commit = async () => {
    throw verdict(3, message);
  };
  expect(await scripted({ commit }).write([PATCH], CALL)).toMatchObject([{ kind: 'refused', reason: 'limit' }]);
  expect(await scripted({ commit }).write([OTHER], CALL)).toMatchObject([{ kind: 'refused', reason: 'limit' }]);
});

test.each([
  ['no result', []],
  ['a result without a version', [{}]],
  ['a version and a conflict', [{ version: '2', conflictDetected: true }]],
])('a commit that is answered with %s is unknown', async (_, results) => {
  const driver = scripted({ commit: async () => results });
  expect(await driver.write([PATCH], CALL)).toMatchObject([UNKNOWN]);
  expect(await driver.remove(REMOVALS, CALL)).toMatchObject([UNKNOWN]);
});

test('rule 25: the service is not probed, and every change carries its base version and FAIL', async () => {
  const sent: Mutation[] = [];
  const driver = scripted({
    commit: async (mutations) => {
      sent.push(...mutations);
      return mutations.map(() => ({ version: '2' }));
    },
  });
  await driver.write([PATCH], CALL);
  await driver.write([REPLACE], CALL);
  await driver.remove(REMOVALS, CALL);
  expect(sent).toHaveLength(3);
  for (const mutation of sent) expect(mutation).toMatchObject({ baseVersion: '1', conflictResolutionStrategy: 'FAIL' });
});

test('a listing goes on after a page that the service cut short', async () => {
  // The service ends a page after 300 entities, whatever limit was asked for.
  const driver = scripted({
    runQuery: async (_, { startCursor }) =>
      startCursor === undefined
        ? { keys: ['a', 'b'].map(keyNamed), moreResults: 'NOT_FINISHED', endCursor: Buffer.from('after b') }
        : { keys: ['c'].map(keyNamed), moreResults: 'NO_MORE_RESULTS', endCursor: Buffer.from('after c') },
  });
  expect(await listAll(driver, '', 100)).toEqual(['a', 'b', 'c']);
});

/** Answers lookups in turn, the last answer for good, and tells which keys each asked for. */
function answering(...answers: readonly ((keys: readonly Key[]) => Partial<LookupResponse>)[]) {
  const asked: string[][] = [];
  const lookup = async (keys: readonly Key[]) => {
    asked.push(keys.map(idOf));
    for (const { partitionId } of keys) expect(partitionId).toMatchObject({ projectId: 'p', namespaceId: '' });
    return answers[Math.min(asked.length, answers.length) - 1]!(keys);
  };
  const driver = scripted({ lookup });
  const read = (...ids: string[]) =>
    driver.read(
      ids.map((id) => ({ id: entityId(id), parts: 'all' })),
      CALL,
    );
  return { read, asked };
}

const all = (keys: readonly Key[]) => ({ found: keys.map(found) });
const first = (keys: readonly Key[]) => ({ found: keys.slice(0, 1).map(found) });
const none = () => ({});
const broken = () => {
  throw verdict(14);
};

const BC = ['b', 'c'];

test.each([
  ['keys that were put off are asked for again, and those alone', [first], [BC, ['c']]],
  ['entities that came before a failure are kept', [first, broken, all], [BC, BC]],
  ['entities that came before a reply that puts all off are kept', [first, none, all], [BC, BC]],
])('%s', async (_, answers, again) => {
  const { read, asked } = answering(...answers);
  expect((await read('a', 'b', 'c')).map((entity) => entity?.id)).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual([['a', 'b', 'c'], ...again]);
});

test.each([
  ['a failure', broken],
  ['a reply that puts all off', none],
])('%s that comes twice ends the read', async (_, trouble) => {
  const { read, asked } = answering(first, trouble);
  await expect(read('a', 'b')).rejects.toMatchObject({ code: 'unavailable', retryable: true });
  expect(asked).toHaveLength(3);
});

test('an entity is absent only if the service calls it missing', async () => {
  const { read } = answering((keys) => ({ found: keys.slice(1).map(found), missing: keys.slice(0, 1) }));
  expect((await read('a', 'b')).map((entity) => entity?.id)).toEqual([undefined, 'b']);
});

test.each([
  ['nothing', none],
  ['another key', () => ({ found: [found(keyNamed('z'))], missing: [keyNamed('y')] })],
  ['no version', (keys: readonly Key[]) => ({ found: keys.map((key) => ({ entity: { key, properties: {} } })) })],
])('invariant 6: a reply that tells %s is no absence', async (_, answer) => {
  await expect(answering(answer).read('a')).rejects.toMatchObject({ code: 'unavailable', retryable: true });
});

test('bytes of another realm are a part too, as those of Buffer are under vm', () => {
  const blobValue = runInNewContext('Uint8Array.of(1)') as Uint8Array;
  expect(partsOf(A, { h: { blobValue } }, 'all')).toEqual(new Map([['h', blobValue]]));
});

test.each([
  ['ignores masks', ['insert', 'update']],
  ['accepts stale versions', ['insert', 'update', 'update']],
  ['accepts stale removals', ['insert', 'update', 'update', 'delete']],
])('rule 25: an endpoint that %s gets no conditional write', async (fault, probe) => {
  const sent: Mutation[] = [];
  const commit = async ([mutation]: readonly Mutation[]) => {
    const isStalePatch = mutation!.update !== undefined && mutation!.baseVersion === '1' && sent.length > 1;
    sent.push(mutation!);
    if (isStalePatch && fault === 'accepts stale removals') throw verdict(9);
    return [{ version: `${sent.length}` }];
  };
  const properties = fault === 'ignores masks' ? {} : { kept: {} };
  const driver = scripted({ commit, lookup: async () => ({ found: [{ entity: { properties } }] }) }, true);
  expect(await driver.write([PATCH], CALL)).toMatchObject([{ kind: 'refused', reason: 'invalid' }]);
  expect(await driver.remove(REMOVALS, CALL)).toMatchObject([{ kind: 'refused', reason: 'invalid' }]);
  // The probe alone, to what went through.
  expect(sent.map((mutation) => Object.keys(mutation)[0])).toEqual(probe);
});

test.each([
  // A probe's commits: insert, patch, stale patch, stale removal, removal.
  ['before its patch', [2]],
  ['before its read', []],
  ['before its removal', [3, 4, 5]],
])('rule 25: a probe that a vacuum removed %s proves nothing, and the next write probes anew', async (when, missed) => {
  let [commits, probes] = [0, 0];
  const commit = async ([mutation]: readonly Mutation[]) => {
    if (mutation!.insert !== undefined) [commits, probes] = [0, probes + 1];
    commits += 1;
    if (probes === 1 && missed.includes(commits)) throw verdict(5);
    if (commits === 3 || commits === 4) throw verdict(9);
    return [{ version: `${commits}` }];
  };
  const isThere = () => probes > 1 || when !== 'before its read';
  const lookup = async () => ({ found: isThere() ? [{ entity: { properties: { kept: {} } } }] : [] });
  const driver = scripted({ commit, lookup }, true);
  expect(await driver.write([PATCH], CALL)).toMatchObject([UNSENT]);
  expect(await driver.write([PATCH], CALL)).toMatchObject([{ kind: 'written' }]);
  expect(probes).toBe(2);
});

test('rule 25: where the probe fails nothing conditional is sent, as is told, and the next write probes anew', async () => {
  let commits = 0;
  const commit = async () => {
    commits += 1;
    return failing(14).commit!([], 0);
  };
  const driver = scripted({ commit }, true);
  expect(await driver.write([PATCH], CALL)).toMatchObject([UNSENT]);
  expect(await driver.remove(REMOVALS, CALL)).toMatchObject([UNSENT]);
  expect(await driver.write([PATCH], CALL)).toMatchObject([UNSENT]);
  // Each time the probe's first insert.
  expect(commits).toBe(3);
});

test('rule 1: several writes, one of them too large, are not sent, and none is called refused', async () => {
  const driver = scripted({});
  const huge = insert(A, [part('p0', new Uint8Array(LIMITS.entityBytesMax))]);
  expect(await driver.write([huge], CALL)).toEqual([{ kind: 'refused', reason: 'limit' }]);
  expect(await driver.write([huge, OTHER], CALL)).toEqual([UNKNOWN, UNKNOWN]);
});

test('a read of no part asks for the key alone, for a mask of nothing would mean everything', async () => {
  const masks: (readonly string[] | undefined)[] = [];
  const driver = scripted({
    lookup: async (keys, mask) => {
      masks.push(mask);
      return { found: keys.map(found) };
    },
  });
  await driver.read([{ id: A, parts: [] }], CALL);
  expect(masks).toEqual([['__key__']]);
});
