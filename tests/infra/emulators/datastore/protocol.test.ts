// The protocol suite on the embedded server, and on Google's emulator where it is installed.
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { commitCases } from './cases/commit-cases.ts';
import { conditionCases } from './cases/condition-cases.ts';
import { limitCases } from './cases/limit-cases.ts';
import { lookupCases } from './cases/lookup-cases.ts';
import { queryCases } from './cases/query-cases.ts';
import { transactionCases } from './cases/transaction-cases.ts';
import { valueCases } from './cases/value-cases.ts';
import { declarer, type Difference } from './declare.ts';
import { FIRESTORE_DIFFERENCES } from './differences.ts';
import { type Service, serviceAt } from './protocol-service.ts';

const SUITE = [commitCases, conditionCases, limitCases, lookupCases, transactionCases, queryCases, valueCases];

function suite(endpoint: string, differences: readonly Difference[]): void {
  let service: Service | undefined;
  beforeAll(() => {
    service = serviceAt(endpoint);
  });
  afterAll(() => service?.close());
  const declare = declarer(() => service!, differences);
  for (const cases of SUITE) cases(declare);
}

const firestore = inject('firestoreEndpoint');

describe('the embedded server', () => {
  suite(inject('embeddedEndpoint'), []);
});
describe.skipIf(firestore === '')('the Firestore emulator in Datastore mode', () => {
  suite(firestore, FIRESTORE_DIFFERENCES);
});
