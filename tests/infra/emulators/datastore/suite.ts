// All cases of the protocol suite.
import { commitCases } from './cases/commits.ts';
import { conditionCases } from './cases/conditions.ts';
import { limitCases } from './cases/limits.ts';
import { lookupCases } from './cases/lookups.ts';
import { queryCases } from './cases/queries.ts';
import { transactionCases } from './cases/transactions.ts';
import type { Declare } from './declare.ts';

export const SUITE: readonly ((declare: Declare) => void)[] = [
  commitCases,
  conditionCases,
  limitCases,
  lookupCases,
  transactionCases,
  queryCases,
];
