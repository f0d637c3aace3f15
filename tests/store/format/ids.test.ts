// Ids and names of parts are types of their own: what is not one does not compile, which `npm run
// typecheck` holds by the lines below.
import { expect, test } from 'vitest';
import type { EntityId, EntityVersion, ListCursor, PartName } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import type { Id64 } from '../../../shared/store/format/bytes.ts';
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

test('a string is no id, version, part name or cursor, and an id of one kind is none of another', () => {
  // @ts-expect-error -- a table's name is no container
  const container: EntityId = TABLE;
  // @ts-expect-error -- nor where an error names one
  const error = new StoreError('unknown', 'of a test', { table: TABLE, container: TABLE });
  // @ts-expect-error -- an id is no version
  const version: EntityVersion = rootId(TABLE);
  // @ts-expect-error -- a part's name is no id
  const id: EntityId = pagePart(1);
  // @ts-expect-error -- an entity's id is no 64-bit id
  const hex: Id64 = rootId(TABLE);
  // @ts-expect-error -- digits from elsewhere are no 64-bit id
  const digits: Id64 = '0123456789abcdef';
  // @ts-expect-error -- a slot's digits are no part
  const part: PartName = '17';
  // @ts-expect-error -- a scan's cursor, a string to its user, is no listing's
  const cursor: ListCursor = 'AQEA';
  expect(new Set([container, version, id, hex, digits, part, cursor, error.container])).toContain(TABLE);
});
