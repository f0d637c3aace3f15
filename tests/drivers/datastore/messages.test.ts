// The hand-written messages of the Datastore driver against Google's published definitions, with
// everything else that a reply may hold.
import { createRequire } from 'node:module';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import type { Database, Key, Mutation } from '../../../shared/drivers/datastore/messages/messages.ts';
import {
  framedCommit,
  framedLookup,
  framedRunQuery,
} from '../../../shared/drivers/datastore/messages/request-messages.ts';
import {
  readCommitResponse,
  readLookupResponse,
  readRunQueryResponse,
} from '../../../shared/drivers/datastore/messages/response-messages.ts';

const protos = createRequire(import.meta.url)('@google-cloud/datastore-api/build/protos/protos.json') as object;
const root = protobuf.Root.fromJSON(protos);

/** Decodes a request by Google's definition, in the names of JSON; bytes as Buffers. */
function declared(name: string, framed: Buffer): object {
  expect(framed[0]).toBe(0);
  expect(framed.readUInt32BE(1)).toBe(framed.length - 5);
  const type = root.lookupType(`google.datastore.v1.${name}`);
  return type.toObject(type.decode(framed.subarray(5)), { longs: String, enums: String });
}

/** A reply as the service would write it. */
function encoded(name: string, value: object): Buffer {
  const type = root.lookupType(`google.datastore.v1.${name}`);
  return Buffer.from(type.encode(type.fromObject(value)).finish());
}

const DATABASE = { projectId: 'my-project', databaseId: 'my-database' };
const PARTITION = { ...DATABASE, namespaceId: 'my-namespace' };
const WIDE = 'ä'.repeat(100);
const LARGE = Buffer.alloc(70_000, 'large');

function key(name: string): Key {
  return { partitionId: PARTITION, path: [{ kind: 'Container', name }] };
}

/** In memory that has to grow. */
function committed(mutations: readonly Mutation[]): Buffer {
  return framedCommit(DATABASE, mutations, Buffer.alloc(0));
}

describe('requests', () => {
  const DEFAULTS = { projectId: 'p', databaseId: '' };
  const PATH = [{ kind: 'Container', name: 'a' }];

  test.each<[string, Database, Key[], string[]?]>([
    [
      'of parts of a thousand keys',
      DATABASE,
      Array.from({ length: 1_000 }, (_, index) => key(`${index}`)),
      ['h', 'p17_hatx'],
    ],
    [
      'of everything in the default database',
      DEFAULTS,
      [{ partitionId: { ...DEFAULTS, namespaceId: '' }, path: PATH }],
    ],
  ])('a lookup %s is written as declared', (_, database, keys, mask) => {
    const expected = { ...database, keys, ...(mask === undefined ? {} : { propertyMask: { paths: mask } }) };
    expect(declared('LookupRequest', framedLookup(database, keys, mask))).toEqual(withoutEmpty(expected));
  });

  const CONDITION = { baseVersion: '1790000000000123', conflictResolutionStrategy: 'FAIL' } as const;
  const properties = {
    h: { blobValue: Buffer.from('header'), excludeFromIndexes: true },
    p17_hatx: { blobValue: LARGE, excludeFromIndexes: true },
    kept: { stringValue: 'text', excludeFromIndexes: true },
  };

  test.each<[string, Mutation]>([
    ['an update of some', { update: { key: key('a'), properties }, ...CONDITION, propertyMask: ['h', 'p17_hatx'] }],
    [
      'empty values',
      { insert: { key: key('a'), properties: { a: { blobValue: Buffer.alloc(0) }, b: { stringValue: '' } } } },
    ],
    [
      'text of more than ASCII',
      { insert: { key: key(WIDE), properties: { [WIDE]: { stringValue: `${WIDE}\u{1f600}` } } } },
    ],
  ])('a commit of %s is written as declared', (_, mutation) => {
    const { propertyMask, ...rest } = mutation;
    const mutations = [propertyMask === undefined ? rest : { ...rest, propertyMask: { paths: [...propertyMask] } }];
    const expected = { ...DATABASE, mode: 'NON_TRANSACTIONAL', mutations };
    const told = declared('CommitRequest', committed([mutation]));
    expect(told).toEqual(withoutEmpty(expected));
  });

  const VERSIONS = '0 1 127 128 9007199254740991 9007199254740993 9223372036854775807 -1 -9223372036854775808'.split(
    ' ',
  );

  test('several mutations stay in their order, each with its version, as declared', () => {
    const mutations = VERSIONS.map((baseVersion) => ({ delete: key(baseVersion), baseVersion }));
    expect(declared('CommitRequest', committed(mutations))).toMatchObject({ mutations });
  });

  const keyName = { name: '__key__' };

  const QUERY = {
    kind: [{ name: 'Container' }],
    projection: [{ property: keyName }],
    order: [{ property: keyName, direction: 'ASCENDING' }],
  };

  const bound = (op: string, keyValue: Key) => ({ propertyFilter: { property: keyName, op, value: { keyValue } } });

  test('a query for keys is written as declared', () => {
    const range = [key('a'), key('b')] as const;
    const query = { kind: 'Container', range, startCursor: Buffer.from('after'), limit: 300 };
    const filters = [bound('GREATER_THAN_OR_EQUAL', key('a')), bound('LESS_THAN', key('b'))];
    const filter = { compositeFilter: { op: 'AND', filters } };
    expect(declared('RunQueryRequest', framedRunQuery(PARTITION, query))).toEqual({
      ...DATABASE,
      partitionId: PARTITION,
      query: { ...QUERY, filter, startCursor: Buffer.from('after'), limit: { value: 300 } },
    });
  });
});

/** protobufjs leaves out a map without entries, as the writer does with empty names. */
function withoutEmpty<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (name, member: unknown) => {
    if (/^(properties|databaseId|namespaceId)$/.test(name) && Object.keys(member as object).length === 0)
      return undefined;
    const isBuffer = (member as { type?: unknown } | null)?.type === 'Buffer';
    return isBuffer ? Buffer.from((member as { data: number[] }).data) : member;
  }) as T;
}

const TIME = { seconds: 1_790_000_000, nanos: 123_000 };

describe('replies', () => {
  /** One of each type that a property can have. */
  const foreign = {
    null: { nullValue: 'NULL_VALUE' },
    flag: { booleanValue: true },
    whole: { integerValue: '-7' },
    real: { doubleValue: 1.5, meaning: 3 },
    time: { timestampValue: TIME },
    key: { keyValue: key('other') },
    place: { geoPointValue: { latitude: 1, longitude: 2 } },
    inner: { entityValue: { properties: { blob: { blobValue: Buffer.from('inner') } } } },
    list: { arrayValue: { values: [{ blobValue: Buffer.from('listed') }] } },
  };

  test('a lookup is read, with everything that the driver did not ask for', () => {
    const properties = {
      h: { blobValue: Buffer.from('header'), excludeFromIndexes: true },
      text: { stringValue: 'x' },
    };
    const bytes = encoded('LookupResponse', {
      found: [
        {
          entity: { key: key('a'), properties: { ...properties, ...foreign } },
          version: '1790000000000123',
          createTime: TIME,
          updateTime: TIME,
          cursor: Buffer.from('c'),
        },
        { entity: { key: key('b') }, version: '9223372036854775807' },
      ],
      missing: [{ entity: { key: key('c') }, version: '5' }],
      deferred: [key('d')],
      transaction: Buffer.from('t'),
      readTime: TIME,
    });
    const none = Object.fromEntries(Object.keys(foreign).map((name) => [name, {}]));
    expect(readLookupResponse(bytes)).toEqual({
      found: [
        {
          entity: {
            key: { path: key('a').path },
            properties: { h: { blobValue: Buffer.from('header') }, text: { stringValue: 'x' }, ...none },
          },
          version: '1790000000000123',
        },
        { entity: { key: { path: key('b').path }, properties: {} }, version: '9223372036854775807' },
      ],
      missing: [{ path: key('c').path }],
    });
  });

  test('keys with numbers have no name, and longer paths all their elements', () => {
    const path = [
      { kind: 'Parent', id: '7' },
      { kind: 'Container', name: 'a' },
    ];
    const bytes = encoded('LookupResponse', { missing: [{ entity: { key: { partitionId: PARTITION, path } } }] });
    expect(readLookupResponse(bytes).missing).toEqual([{ path: [{ kind: 'Parent', name: '' }, path[1]] }]);
  });

  test('a commit is read', () => {
    const bytes = encoded('CommitResponse', {
      mutationResults: [
        { version: '1790000000000123', createTime: TIME, updateTime: TIME, transformResults: [{ integerValue: '1' }] },
        { key: key('a'), version: '7', conflictDetected: true },
        {},
      ],
      indexUpdates: 3,
      commitTime: TIME,
    });
    expect(readCommitResponse(bytes)).toEqual([
      { version: '1790000000000123', conflictDetected: false },
      { version: '7', conflictDetected: true },
      { version: undefined, conflictDetected: false },
    ]);
  });

  test.each([
    'NOT_FINISHED',
    'NO_MORE_RESULTS',
    'MORE_RESULTS_AFTER_LIMIT',
    'MORE_RESULTS_AFTER_CURSOR',
    'MORE_RESULTS_TYPE_UNSPECIFIED',
  ])('a query that ends with %s is read', (moreResults) => {
    const entityResults = ['a', 'b'].map((name) => ({ entity: { key: key(name) }, cursor: Buffer.from(name) }));
    const batch = {
      skippedResults: 1,
      skippedCursor: Buffer.from('s'),
      entityResultType: 'KEY_ONLY',
      entityResults,
      endCursor: Buffer.from('end'),
      moreResults,
      snapshotVersion: '8',
      readTime: TIME,
    };
    expect(readRunQueryResponse(encoded('RunQueryResponse', { batch, query: { kind: [{ name: 'x' }] } }))).toEqual({
      keys: [{ path: key('a').path }, { path: key('b').path }],
      endCursor: Buffer.from('end'),
      moreResults,
    });
  });

  test('empty replies are read', () => {
    const nothing = Buffer.alloc(0);
    expect(readLookupResponse(nothing)).toEqual({ found: [], missing: [] });
    expect(readCommitResponse(nothing)).toEqual([]);
    expect(readRunQueryResponse(nothing)).toEqual({ keys: [], endCursor: new Uint8Array() });
  });

  const whole = encoded('LookupResponse', {
    found: [{ entity: { key: key('a'), properties: { h: { blobValue: Buffer.from('header') } } }, version: '300' }],
  });

  test('a reply that is cut off within a field is an error, never a shorter reply', () => {
    for (let size = 1; size < whole.length; size += 1) {
      expect(() => readLookupResponse(whole.subarray(0, size))).toThrow('no message of the Datastore API');
    }
  });

  test.each([
    ['a field of another type', [0x08, 1]],
    ['a group', [0x13]],
    ['field 0', [0x02, 0]],
    ['a number without an end', Array.from({ length: 11 }, () => 0xff)],
    ['a property that ends before its length', [0x0a, 10, 0x0a, 8, 0x1a, 6, 0x12, 4, 0x92, 1, 9, 7]],
    ['a length beyond the end', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ])('%s is an error', (_, bytes) => {
    expect(() => readLookupResponse(Buffer.from(bytes))).toThrow('no message of the Datastore API');
  });
});
