import { afterAll, beforeAll, describe, inject } from 'vitest';
import { aggregationCases } from './cases/aggregations.ts';
import { commitCases } from './cases/commits.ts';
import { conditionCases } from './cases/conditions.ts';
import { limitCases } from './cases/limits.ts';
import { lookupCases } from './cases/lookups.ts';
import { queryCases } from './cases/queries.ts';
import { transactionCases } from './cases/transactions.ts';
import type { Difference } from './declare.ts';
import { declarer } from './declare.ts';
import { FIRESTORE_DIFFERENCES, LEGACY_DIFFERENCES } from './differences.ts';
import type { Service } from './service.ts';
import { serviceAt } from './service.ts';

function suite(endpoint: string, differences: readonly Difference[]): void {
  let service: Service | undefined;
  beforeAll(() => {
    service = serviceAt(endpoint);
  });
  afterAll(() => service?.close());
  const declare = declarer(() => service!, differences);
  for (const cases of [
    commitCases,
    conditionCases,
    limitCases,
    lookupCases,
    transactionCases,
    queryCases,
    aggregationCases,
  ])
    cases(declare);
}

const firestore = inject('firestoreEndpoint');
const legacy = inject('legacyDatastoreEndpoint');

describe('the embedded server', () => {
  suite(inject('embeddedEndpoint'), []);
});
describe.skipIf(firestore === '')('the Firestore emulator in Datastore mode', () => {
  suite(firestore, FIRESTORE_DIFFERENCES);
});
describe.skipIf(legacy === '')('the legacy Datastore emulator', () => {
  suite(legacy, LEGACY_DIFFERENCES);
});
