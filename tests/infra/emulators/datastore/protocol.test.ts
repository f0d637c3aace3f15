// The protocol suite on the embedded server, and on Google's emulator where it is installed.
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { declarer, type Difference, type Service, serviceAt } from './protocol-service.ts';
import { readCases } from './read-cases.ts';
import { valueCases } from './value-cases.ts';
import { writeCases } from './write-cases.ts';

const SUITE = [writeCases, readCases, valueCases];

function suite(endpoint: string, differences: readonly Difference[]): void {
  let service: Service | undefined;
  beforeAll(() => {
    service = serviceAt(endpoint);
  });
  afterAll(() => service?.close());
  const declare = declarer(() => service!, differences);
  for (const cases of SUITE) cases(declare);
}

// Google's Firestore emulator 1.19.9 differs here from the protocol suite; the embedded server does
// not. Quotations are comments of datastore.proto, entity.proto and query.proto, or named pages.
const ENTITY_SIZE = 'entity.proto: "Must not exceed 1 MiB - 4 bytes"';
const KEY_SIZE = 'takes it; limits page: a key has at most 6 KiB';
const LOOKUP_KEYS = 'takes them; limits page: at most 1,000 keys in a Lookup';
const REQUEST_SIZE = 'limits page: a request may have 10 MiB';
const MISSING_VERSION =
  'answers 0; query.proto, EntityResult.version: "this is the version of the snapshot that was used to look up the entity"';
const WAITS = 'locks what a transaction has read, and lets others wait for its end';
const SNAPSHOT = 'shows the new state; transactions page: reads see the database as it was when the transaction began';

const FIRESTORE_DIFFERENCES: readonly Difference[] = [
  { case: 'an entity of 1,048,573 bytes is INVALID_ARGUMENT', why: `takes up to 1,048,576 bytes; ${ENTITY_SIZE}` },
  { case: 'a key of more than 6 KiB is INVALID_ARGUMENT', why: KEY_SIZE },
  { case: 'more than 1,000 keys in a lookup are INVALID_ARGUMENT', why: LOOKUP_KEYS },
  { case: 'a request of more than 10 MiB is INVALID_ARGUMENT', why: `answers RESOURCE_EXHAUSTED; ${REQUEST_SIZE}` },
  { case: 'a lookup says what is missing, with the version of the snapshot', why: MISSING_VERSION },
  { case: 'a read of what another changes meanwhile aborts the commit', why: WAITS, hangs: true },
  { case: 'an entity that was missing and has come aborts the commit', why: WAITS, hangs: true },
  { case: 'an entity that was there and is gone aborts the commit', why: WAITS, hangs: true },
  { case: 'a transaction reads the state of its beginning', why: SNAPSHOT },
  {
    case: 'a read may begin a transaction',
    why: 'returns an id that cannot be committed; datastore.proto, ReadOptions: its identifier "will be returned in the corresponding response"',
    hangs: true,
  },
];

const firestore = inject('firestoreEndpoint');

describe('the embedded server', () => {
  suite(inject('embeddedEndpoint'), []);
});
describe.skipIf(firestore === '')('the Firestore emulator in Datastore mode', () => {
  suite(firestore, FIRESTORE_DIFFERENCES);
});
