// Each configured text belongs to one caller, as the steps of `serverless keys` see it.
import { expect, test } from 'vitest';
import { countOf, nextKeys } from '../../../infra/plugin/stack/key-change.ts';

const OWN = 'own-key-of-the-deployment';
const ADAS = 'ada=key-of-ada-0000000000';
/** As someone edited it by hand: its brackets hold no limits. */
const UNREADABLE = 'ada(everything)=key-of-ada-0000000000';

test('a text that is no key is nobody’s: it is not counted, and stays', () => {
  const texts = [OWN, ADAS, UNREADABLE];
  const ada = { role: 'read', text: 'ada', name: 'ada' } as const;
  expect([countOf(texts), countOf(texts, ada)]).toEqual([1, 1]);
  const fresh = { read: 'fresh', write: '', admin: '', compare: '' };
  const present = { read: texts, write: [], admin: [], compare: [] };
  expect(nextKeys(present, 'add', fresh).read).toBe(['fresh', OWN, ADAS, UNREADABLE].join());
});
