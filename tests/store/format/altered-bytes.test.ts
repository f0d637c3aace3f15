// Decoders of randomly altered golden bytes return a value or throw their documented error.
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { faultsIn, liveRecordsIn } from '../../../shared/store/container/check.ts';
import { pageOf, snapshotOf } from '../../../shared/store/container/snapshot.ts';
import type { Moment } from '../../../shared/store/contract/runtime.ts';
import { asBuffer, CRC_BYTES, ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import { HEADER_PART } from '../../../shared/store/format/entity-ids.ts';
import { parsePage, recordsOf } from '../../../shared/store/format/page-body.ts';
import { StoreError } from '../../../shared/store/index.ts';
import { loadHash } from '../../../shared/store/system/hash.ts';
import { decodeCursor, encodeCursor } from '../../../shared/store/table/bounds.ts';
import { decodeValue, encodeValue } from '../../../shared/store/table/encode-value.ts';
import { altered, Tally } from '../../support/altered.ts';
import { goldenState } from '../golden/state.ts';
import { resealed } from '../rules/world.ts';

const SEEN: Moment = { tick: 0, wallMs: 0, monotonicMs: 0 };
const WHERE = { table: 'golden', key: 'k' };

const isCorrupt = (error: unknown): boolean => error instanceof StoreError && error.code === 'corrupt';
const isInvalid = (error: unknown): boolean => error instanceof StoreError && error.code === 'invalid';
await loadHash();

const isRange = (error: unknown): boolean => error instanceof RangeError;

test.each(['none', 'deflate', 'zstd', 'courtesies', 'merging'] as const)(
  'an altered golden container of %s is corrupt, or checked without another error',
  async (name) => {
    const { entities } = await goldenState(name);
    const tally = new Tally();
    for (const [id, { version, parts }] of [...entities].slice(0, 8)) {
      for (const [part, bytes] of parts)
        for (const [at, copy] of [...altered(asBuffer(bytes), part === HEADER_PART ? 100 : 3)].entries()) {
          const stored = new Map(parts).set(part, at % 3 === 0 || copy.length <= CRC_BYTES ? copy : resealed(copy));
          const check = (): void => {
            const snapshot = snapshotOf({ id, version, parts: stored }, WHERE.table, SEEN, undefined);
            for (const { kind } of faultsIn(snapshot, WHERE.table, () => {})) expect(kind).toMatch(/^[dm]/);
            liveRecordsIn(snapshot, WHERE.table, 0);
          };
          tally.try(check, isCorrupt);
        }
    }
    expect(tally.rarer).toBeGreaterThan(0);
  },
);

test('an altered page with a valid checksum is a RangeError, or has records', async () => {
  const tally = new Tally();
  for (const [id, { version, parts }] of (await goldenState('none')).entities) {
    if (!id.startsWith('n!golden!')) continue;
    const snapshot = snapshotOf({ id, version, parts }, WHERE.table, SEEN, undefined);
    for (const ref of snapshot.header.pages) {
      const golden = asBuffer(pageOf(snapshot, ref, WHERE.table).body);
      for (const body of altered(golden, 40)) tally.try(() => recordsOf(parsePage(body)), isRange);
    }
  }
  expect(tally.rarer).toBeGreaterThan(0);
});

const VALUE = {
  text: 'é\ufeff',
  list: [1, -1, 2 ** 40, 1.5, null, true],
  map: new Map([[1, 'a']]),
  at: new Date(0),
  raw: Buffer.from('raw'),
};

test.each(['msgpack', 'json'] as const)('an altered value of codec %s is corrupt, or another value', (codec) => {
  const value = codec === 'json' ? { ...VALUE, map: null, at: null, raw: null } : VALUE;
  const { tag, bytes } = encodeValue(codec, value, WHERE);
  const tally = new Tally();
  for (const copy of altered(asBuffer(bytes), 4_000))
    tally.try(() => decodeValue(codec, { tag, bytes: copy }, WHERE), isCorrupt);
  expect(tally.rarer).toBeGreaterThan(0);
});

test('an altered cursor is invalid, or another cursor of its table', () => {
  const range = { from: Buffer.from('from'), end: Buffer.from('to') };
  const state = { order: 'key', incarnation: ROOT_CONTAINER, ...range, isReverse: true } as const;
  const golden = Buffer.from(encodeCursor(state, WHERE.table), 'base64url');
  const tally = new Tally();
  for (const copy of altered(golden, 4_000)) {
    const cursor = (copy.length <= CRC_BYTES ? copy : resealed(copy, crc32(WHERE.table))).toString('base64url');
    tally.try(() => decodeCursor(cursor, WHERE.table), isInvalid);
  }
  expect(tally.rarer).toBeGreaterThan(0);
});
