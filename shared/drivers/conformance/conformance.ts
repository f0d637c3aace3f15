// The driver contract as checks, the same for every driver.
import type { Check } from './check.ts';
import { LIST } from './list.ts';
import { MISUSE } from './misuse.ts';
import { PARTS } from './parts.ts';
import { REQUESTS } from './requests.ts';
import { SINGLE } from './single.ts';

/** All checks, by what they are about. */
export const CONFORMANCE: Readonly<Record<string, readonly Check[]>> = {
  'conditions and versions': SINGLE,
  'patches and sizes': PARTS,
  'several entities in a request': REQUESTS,
  'listing and cursors': LIST,
  misuse: MISUSE,
};

/** What a store does most: half a minute against a service, without the longest listing. */
export const SHORT: readonly Check[] = [...SINGLE, ...PARTS, ...REQUESTS];
