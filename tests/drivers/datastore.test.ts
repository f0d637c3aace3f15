// The Datastore driver over scripted calls: what the emulators cannot be made to do.
import { expect, test } from 'vitest';
import { driverOn } from '../../shared/drivers/datastore.ts';
import type { DatastoreCalls, EntityResult, Mutation } from '../../shared/drivers/datastore/client.ts';
import { propertyOf } from '../../shared/drivers/datastore/mapping.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { CALL, insert, listAll, part, patch, replace } from '../conformance/harness.ts';

const SPACE = { projectId: 'p', databaseId: '', namespace: '', kind: 'Container' };
const LIMITS = memoryDriver().limits;

async function never(): Promise<never> {
  throw new Error('not expected');
}

/** As if each key had been found, without properties. */
function found(key: NonNullable<EntityResult['entity']>['key']): EntityResult {
  return { version: '1', entity: { key: key ?? null, properties: {} } };
}

/** A row of a listing. */
function keyOnly(name: string): EntityResult {
  return { entity: { key: { path: [{ name }] } } };
}

function scripted(calls: Partial<DatastoreCalls>, doubtful = false) {
  const all = { lookup: never, commit: never, runQuery: never, close: async () => {}, ...calls };
  return driverOn(all, { space: SPACE, limits: LIMITS, doubtful });
}

function failing(code: number): Partial<DatastoreCalls> {
  const fail = async () => {
    throw Object.assign(new Error('said by a test'), { code });
  };
  return { commit: fail, lookup: fail, runQuery: fail };
}

const PATCH = patch('a', '1', [part('h', 'x')]);
const INSERT = insert('b', [part('h', 'x')]);

test.each([
  [9, 'condition'],
  [5, 'condition'],
  [3, 'limit'],
  [7, 'invalid'],
  [12, 'invalid'],
  [16, 'invalid'],
])('rule 1: a single patch that fails with code %i is refused (%s)', async (code, reason) => {
  expect(await scripted(failing(code)).write([PATCH], CALL)).toMatchObject([{ kind: 'refused', reason }]);
});

test.each([9, 5, 6, 3, 7, 10])('rule 1: several writes that fail with code %i are all unknown', async (code) => {
  const outcomes = await scripted(failing(code)).write([PATCH, INSERT], CALL);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
});

test.each([
  [10, 'other'],
  [14, 'other'],
  [4, 'other'],
  [13, 'other'],
  [2, 'other'],
  [8, 'throttled'],
])('rule 1: a single write that fails with code %i is unknown (%s)', async (code, reason) => {
  expect(await scripted(failing(code)).write([PATCH], CALL)).toMatchObject([{ kind: 'unknown', reason }]);
});

test.each([
  [6, 'condition'],
  // An insert states no version: these speak of the database.
  [5, 'invalid'],
  [9, 'invalid'],
  [3, 'invalid'],
])('a single insert that fails with code %i is refused (%s)', async (code, reason) => {
  expect(await scripted(failing(code)).write([INSERT], CALL)).toMatchObject([{ kind: 'refused', reason }]);
});

test.each([
  ['no result', []],
  ['a result without a version', [{}]],
])('a commit that is answered with %s is unknown', async (_, mutationResults) => {
  const driver = scripted({ commit: async () => ({ mutationResults }) });
  expect(await driver.write([PATCH], CALL)).toMatchObject([{ kind: 'unknown', reason: 'other' }]);
});

test.each([
  [3, 'unavailable', false],
  [5, 'unavailable', false],
  [7, 'unavailable', false],
  [9, 'unavailable', false],
  [12, 'unavailable', false],
  [16, 'unavailable', false],
  [4, 'unavailable', true],
  [13, 'unavailable', true],
  [14, 'unavailable', true],
  [8, 'throttled', true],
])(
  'a read that fails with code %i rejects (%s, retryable: %s) and is not absence',
  async (code, expected, retryable) => {
    const driver = scripted(failing(code));
    const told = { code: expected, retryable };
    await expect(driver.read([{ id: 'a', parts: 'all' }], CALL)).rejects.toMatchObject(told);
    await expect(driver.list('', undefined, 1, CALL)).rejects.toMatchObject(told);
  },
);

test('every mutation of an existing entity carries its base version and FAIL', async () => {
  const sent: Mutation[] = [];
  const driver = scripted({
    commit: async (mutations) => {
      sent.push(...mutations);
      return { mutationResults: mutations.map(() => ({ version: '2' })) };
    },
  });
  await driver.write([PATCH], CALL);
  await driver.write([replace('a', '1', [part('h', 'x')])], CALL);
  await driver.remove([{ id: 'a', version: '1' }], CALL);
  expect(sent).toHaveLength(3);
  for (const mutation of sent) expect(mutation).toMatchObject({ baseVersion: '1', conflictResolutionStrategy: 'FAIL' });
});

test('a write that is reported as a conflict beside a version is not called written', async () => {
  const driver = scripted({ commit: async () => ({ mutationResults: [{ version: '2', conflictDetected: true }] }) });
  expect(await driver.write([PATCH], CALL)).toMatchObject([{ kind: 'unknown', reason: 'other' }]);
  expect(await driver.remove([{ id: 'a', version: '1' }], CALL)).toMatchObject([{ kind: 'unknown', reason: 'other' }]);
});

test('a listing goes on after a page that the service cut short', async () => {
  // The service ends a page after 300 entities, whatever limit was asked for.
  const driver = scripted({
    runQuery: async (_, { startCursor }) =>
      startCursor === undefined
        ? { entityResults: ['a', 'b'].map(keyOnly), moreResults: 'NOT_FINISHED', endCursor: Buffer.from('after b') }
        : { entityResults: ['c'].map(keyOnly), moreResults: 'NO_MORE_RESULTS', endCursor: Buffer.from('after c') },
  });
  expect(await listAll(driver, '', 100)).toEqual(['a', 'b', 'c']);
});

test('deferred keys are asked for again', async () => {
  const driver = scripted({
    lookup: async (keys) => ({ found: keys.slice(0, 1).map(found), deferred: keys.slice(1) }),
  });
  const answers = await driver.read(
    ['a', 'b', 'c'].map((id) => ({ id, parts: 'all' })),
    CALL,
  );
  expect(answers.map((entity) => entity?.id)).toEqual(['a', 'b', 'c']);
});

test('a server that defers every key is unavailable, not absence', async () => {
  const driver = scripted({ lookup: async (keys) => ({ deferred: [...keys] }) });
  await expect(driver.read([{ id: 'a', parts: 'all' }], CALL)).rejects.toMatchObject({ code: 'unavailable' });
});

test('a numbered part has a property of its own for each entity, other parts share theirs', () => {
  expect(propertyOf('a', 'p17')).not.toBe(propertyOf('b', 'p17'));
  expect(propertyOf('a', 'h')).toBe(propertyOf('b', 'h'));
});

test('rule 25: an endpoint that accepts stale versions gets no conditional write', async () => {
  let commits = 0;
  const driver = scripted(
    {
      commit: async () => {
        commits += 1;
        return { mutationResults: [{ version: `${commits}` }] };
      },
      lookup: async () => ({ found: [{ entity: { properties: { kept: {} } } }] }),
    },
    true,
  );
  const asked = [PATCH];
  expect(await driver.write(asked, CALL)).toMatchObject([{ kind: 'refused', reason: 'invalid' }]);
  expect(await driver.remove([{ id: 'a', version: '1' }], CALL)).toMatchObject([{ kind: 'refused' }]);
  // The probe's insert, its patch, and the stale patch that went through.
  expect(commits).toBe(3);
});

test('rule 25: an endpoint that refuses stale patches and accepts stale removals gets no conditional write', async () => {
  const sent: Mutation[] = [];
  const commit = async ([mutation]: readonly Mutation[]) => {
    const isStalePatch = mutation!.update !== undefined && mutation!.baseVersion === '1' && sent.length > 1;
    sent.push(mutation!);
    if (isStalePatch) throw Object.assign(new Error('said by a test'), { code: 9 });
    return { mutationResults: [{ version: `${sent.length}` }] };
  };
  const driver = scripted(
    { commit, lookup: async () => ({ found: [{ entity: { properties: { kept: {} } } }] }) },
    true,
  );
  expect(await driver.write([PATCH], CALL)).toMatchObject([{ kind: 'refused', reason: 'invalid' }]);
  expect(await driver.remove([{ id: 'a', version: '1' }], CALL)).toMatchObject([
    { kind: 'refused', reason: 'invalid' },
  ]);
  // The probe's insert, its patch, the stale patch, and the stale removal that went through.
  expect(sent.map((mutation) => Object.keys(mutation)[0])).toEqual(['insert', 'update', 'update', 'delete']);
});

test('rule 25: the service itself is not probed', async () => {
  const sent: Mutation[] = [];
  const driver = scripted({
    commit: async (mutations) => {
      sent.push(...mutations);
      return { mutationResults: [{ version: '2' }] };
    },
  });
  await driver.write([PATCH], CALL);
  expect(sent).toHaveLength(1);
});
