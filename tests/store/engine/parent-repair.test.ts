// Rule 29: a repair sets an entry on condition of the child that it still names.
import { expect, test } from 'vitest';
import { ParentRepair } from '../../../shared/store/engine/engine.ts';
import { childId, EMPTY_LEAF } from '../container/nodes.ts';

const { incarnation } = EMPTY_LEAF;

/** What a repair to child 2 does where the branch has an entry to the child `named`. */
function done(instead: string | undefined, named: string | undefined, found = incarnation): string {
  const repairs = new ParentRepair();
  const named64 = instead === undefined ? undefined : childId(instead);
  const entry = { level: 1, incarnation, separator: Buffer.from('m'), child: childId('2'), instead: named64 };
  const { action } = repairs.begin(entry, 1)!;
  if (typeof action !== 'function') throw new TypeError('a repair decides by what it finds');
  const value = named === undefined ? undefined : Buffer.from(childId(named), 'hex');
  const rest = { key: Buffer.from('m'), version: 1, codec: 0, expiresAtMs: undefined };
  return action(value && { ...rest, value }, found).kind;
}

test('rule 29: a repair sets an entry only while it names the child that led astray, and makes one only where there is none', () => {
  expect([done('1', '1'), done('1', '3'), done('1', undefined)]).toEqual(['write', 'none', 'none']);
  expect([done(undefined, undefined), done(undefined, '3')]).toEqual(['write', 'none']);
  expect(done('1', '1', childId('b'))).toBe('none');
});
