// One request of each kind to a driver, all about the entity `a`.
import type { Removal, Write } from '../../shared/store/contract/driver.ts';
import { insert, part, patch, replace } from '../../shared/drivers/conformance/check-calls.ts';
import { entityId, entityVersion } from '../support/ids.ts';

export const A = entityId('a');
/** The version on which the changes depend. */
const BASE = entityVersion('1');

export const READ = [{ id: A, parts: 'all' }] as const;
export const INSERT: Write = insert(A, [part('h', 'x')]);
export const PATCH: Write = patch(A, BASE, [part('h', 'x', 1)]);
export const REPLACE: Write = replace(A, BASE, [part('h', 'x', 1)]);
export const REMOVALS: readonly Removal[] = [{ id: A, version: BASE }];
