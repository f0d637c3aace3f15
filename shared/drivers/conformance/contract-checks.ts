// The driver contract as checks, the same for every driver.
import type { Check } from './contract-check.ts';
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

/** Checks whose requests are small, and always the same for the same ids. */
export const RECORDED: readonly Check[] = [
  ...SINGLE,
  ...REQUESTS.filter(({ name }) => !name.startsWith('a request takes')),
  ...LIST.filter(({ name }) => name.startsWith('an id that was removed')),
];

/** What matters most to a store. Without listings, it takes half a minute against a service. */
export const SHORT: readonly Check[] = [...SINGLE, ...PARTS, ...REQUESTS];
