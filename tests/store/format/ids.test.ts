// Ids and the names of parts tell what they name.
import { expect, test } from 'vitest';
import { incarnationOf, nodeId, pagePart, rootId, slotOfPart, tableOfRoot } from '../../../shared/store/format/ids.ts';
import { hexId } from '../../support/ids.ts';

const TABLE: string = 'orders';
const INCARNATION = hexId('00112233aabbccdd');

test('an id tells its table, incarnation and container, a part its slot', () => {
  const id = nodeId(TABLE, INCARNATION, hexId('0123456789abcdef'));
  expect(id).toBe('n!orders!00112233aabbccdd!0123456789abcdef');
  expect(incarnationOf(id)).toBe(INCARNATION);
  expect(tableOfRoot(rootId(TABLE))).toBe(TABLE);
  expect(slotOfPart(pagePart(17))).toBe(17);
});
