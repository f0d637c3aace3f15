// Bytes of earlier releases are read, damaged and newer ones are refused, and FORMAT.md is true.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { memoryDriver, memoryState } from '../../../shared/drivers/memory.ts';
import type { Compression } from '../../../shared/store/contract/runtime.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { compareBytes, ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import {
  compress,
  openPage,
  type PageAddress,
  toEnvelopeCompressed,
  type SealedPage,
} from '../../../shared/store/format/envelope.ts';
import {
  commitIdAt,
  decodeHeader,
  encodeHeader,
  type Header,
  type NodeState,
} from '../../../shared/store/format/header.ts';
import { type Page, parsePage, recordAt } from '../../../shared/store/format/page-body.ts';
import { openStore } from '../../../shared/store/index.ts';
import { pageOfRecords } from '../container/nodes.ts';
import { goldenState } from '../golden/state.ts';
import { keysOf } from '../rules/table-steps.ts';
import { leavesOf, storedIds, storedKeys, storedNode } from '../rules/tree-of.ts';
import { resealed } from '../rules/world.ts';
import { hexId, partName } from '../../support/ids.ts';
import type { PartName } from '../../../shared/store/contract/driver.ts';

const GOLDEN = ['none', 'deflate', 'zstd'] as const;

test.each(GOLDEN)('golden containers with compression "%s" are read and written to', async (compression) => {
  const store = openStore({ driver: memoryDriver({ state: await goldenState(compression) }) });
  const table = await store.table<{ number: number; text: string }>('golden', { create: false });
  expect(await keysOf(table.scan())).toHaveLength(120);
  expect((await table.get('key-99'))?.value).toEqual({ number: 99, text: 'record 99 '.repeat(20) });
  expect((await table.get('key-20'))?.expiresAtMs).toBe(1_800_000_000_000 + 86_400_000 * 36_500);
  expect(await table.get('key-7')).toBeUndefined();
  expect((await table.get('raw'))?.value).toEqual(Uint8Array.of(0, 1, 2, 255));
  expect((await table.get('json'))?.value).toEqual({ a: [1, 'zwei', null] });
  expect((await store.tables()).map(({ name }) => name)).toEqual(['golden']);
  for (const key of ['key-50', 'new']) {
    await table.put(key, { number: 1, text: 'changed' });
    expect((await table.get(key))?.value.text).toBe('changed');
  }
});

function sealPage({ body }: Page, place: PageAddress, how: Compression): SealedPage {
  return toEnvelopeCompressed(compress(body, how), body.length, place);
}

test('golden containers that ask for a freeze and name the parts of a split are read and written to', async () => {
  const state = await goldenState('courtesies');
  const headers = [...state.entities.values()].map(({ parts }) => decodeHeader(parts.get(partName('h'))!));
  const [held, ...others] = headers.filter(({ freezeMs, lastSplit }) => freezeMs > 0 || lastSplit !== undefined);
  expect(others).toEqual([]);
  expect(held).toMatchObject({ freezeMs: 44, commitCount: 27, lastSplit: { commit: 19 } });
  const parts = held!.lastSplit!.parts.map(({ low, container }) => `${Buffer.from(low).toString()} ${container}`);
  expect(parts).toEqual(['key-04 1b5b664627d03691', 'key-08 16839bbb7c7bf023']);
  const store = openStore({ driver: memoryDriver({ state }) });
  const table = await store.table<{ number: number }>('golden', { create: false });
  const scanned = await Array.fromAsync(table.scan(), ({ key, value }) => [key, value.number]);
  expect(scanned).toEqual(Array.from({ length: 40 }, (_, each) => [`key-${String(each).padStart(2, '0')}`, each]));
  await table.put('key-05', { number: -1 });
  expect((await table.get('key-05'))?.value).toEqual({ number: -1 });
});

function lows(nodes: readonly Snapshot[]): string[] {
  return nodes.map(({ header }) => Buffer.from(header.low).toString());
}

test('golden containers of retired, absorbed and copied leaves are read and written to', async () => {
  const state = await goldenState('merging');
  const nodes = storedIds(state, 'golden').map((id) => storedNode(state, 'golden', id)!);
  const inState = (wanted: NodeState) =>
    nodes
      .filter(({ header: { state: own } }) => own === wanted)
      .toSorted((a, b) => compareBytes(a.header.low, b.header.low));
  const [retired, merged] = [inState('retired'), inState('merged')];
  expect([lows(retired), lows(merged)]).toEqual([['key-69'], ['key-26', 'key-49']]);
  for (const { header, id } of merged) {
    expect(header).toMatchObject({ pages: [], layers: [], deadSlots: [], freezeMs: 0, lastSplit: undefined });
    expect([id, header.commitCount > 0, header.commitIds.length > 0]).toEqual([id, true, true]);
    expect(commitIdAt(header, header.commitCount)).toBe(storedNode(state, 'golden', id)!.lastCommit);
  }
  const leaves = leavesOf(state, 'golden');
  // The first went into its left neighbour, a copy stands for the second, and the last waits.
  expect(lows(leaves)).toEqual(['', 'key-13', 'key-37', 'key-49', 'key-6', 'key-69']);
  expect(leaves[1]!.header.high).toEqual(merged[0]!.header.high);
  expect(leaves[3]!.header.origin?.id).toBe(merged[1]!.id);
  expect(leaves[5]!.id).toBe(retired[0]!.id);
  const numbers = Array.from({ length: 90 }, (_, number) => number);
  const deleted = numbers.filter((number) => (number % 7 === 3 && number !== 66) || (number >= 28 && number <= 35));
  const present = numbers.filter((number) => !deleted.includes(number));
  const keys = present.map((number) => `key-${String(number).padStart(2, '0')}`);
  expect(storedKeys(state, 'golden')).toEqual(keys);

  const store = openStore({ driver: memoryDriver({ state }) });
  const table = await store.table<{ number: number }>('golden', { create: false });
  const scanned = await Array.fromAsync(table.scan(), ({ key, value }) => [key, value.number]);
  expect(scanned).toEqual(keys.map((key, index) => [key, present[index]]));
  const found = await table.getMany(['key-27', 'key-30', 'key-50', 'key-70', 'key-89']);
  expect(found.map(({ status }) => status)).toEqual(['found', 'absent', 'found', 'found', 'found']);
  for (const key of ['key-30', 'key-50', 'key-70']) await table.put(key, { number: -1 });
  expect((await table.get('key-70'))?.value).toEqual({ number: -1 });
  // The put to the retired leaf's range absorbed it.
  expect(lows(leavesOf(state, 'golden'))).toEqual(['', 'key-13', 'key-37', 'key-49', 'key-6']);
});

function exampleParts(): Map<PartName, Buffer> {
  const text = readFileSync(new URL('../../../shared/store/format/FORMAT.md', import.meta.url), 'utf8');
  const example = text.slice(text.indexOf('## Worked example'));
  const parts = new Map<PartName, Buffer>();
  for (const [, name = '', hex = ''] of example.matchAll(/^(\w+)\n((?: {4}.*\n)+)/gm)) {
    parts.set(partName(name), Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'));
  }
  return parts;
}

test('the worked example of FORMAT.md is what the decoder reads and the encoder writes', () => {
  const parts = exampleParts();
  const header = decodeHeader(parts.get(partName('h'))!);
  expect(header).toMatchObject({ order: 'key', state: 'live', level: 0, container: ROOT_CONTAINER, commitCount: 2 });
  expect(header.high).toBeUndefined();
  expect(Buffer.from(encodeHeader(header))).toEqual(parts.get(partName('h')));
  expect(Buffer.from(header.commitIds.subarray(-8))).toEqual(parts.get(partName('c')));
  const [row] = header.pages;
  const place = { incarnation: header.incarnation, container: header.container, slot: row!.slot, number: row!.number };
  const page = openPage(parts.get(partName(`p${row!.slot}`))!, place, row!.crc);
  const record = recordAt(page, 0);
  expect([Buffer.from(record.key).toString(), record.codec, Buffer.from(record.value).toString()]).toEqual([
    'k',
    2,
    '1',
  ]);
  expect(Buffer.from(sealPage(page, place, 'none').bytes)).toEqual(parts.get(partName('p0')));
});

const ID = hexId('0123456789abcdef');

function header(): Header {
  return decodeHeader(exampleParts().get(partName('h'))!);
}

/** The stored header with these bytes inserted before its CRC. */
function withCourtesies(stored: Buffer, bytes: Buffer): Buffer {
  return resealed(Buffer.concat([stored.subarray(0, -4), bytes, Buffer.alloc(4)]));
}

test('the courtesies of FORMAT.md are what the decoder reads and the encoder writes, and may be missing', () => {
  const stored = exampleParts().get(partName('h'))!;
  const bytes = exampleParts().get(partName('courtesies'))!;
  const lastSplit = { parts: [{ low: Buffer.from('m'), container: ID }], commit: 2 };
  const cases = [
    { courtesies: { freezeMs: 0, lastSplit: undefined }, tail: bytes.subarray(0, 0) },
    { courtesies: { freezeMs: 25, lastSplit: undefined }, tail: bytes.subarray(0, 1) },
    { courtesies: { freezeMs: 25, lastSplit }, tail: bytes },
    { courtesies: { freezeMs: 0, lastSplit }, tail: Buffer.concat([Buffer.of(0), bytes.subarray(1)]) },
  ];
  for (const { courtesies, tail } of cases) {
    const full = withCourtesies(stored, tail);
    expect(decodeHeader(full)).toEqual({ ...header(), ...courtesies });
    expect(Buffer.from(encodeHeader({ ...header(), ...courtesies }))).toEqual(full);
  }
});

test('a row that shares more bytes with the low before it than that has is damaged', () => {
  const pages = [pageOfRecords(0, [['ab', Buffer.from('v')]])];
  const stored = Buffer.from(encodeHeader({ ...header(), low: Buffer.from('ab'), pages, layers: [] }));
  const at = stored.lastIndexOf(Buffer.from([2, 0, 0, 1]));
  stored[at] = 3;
  expect(() => decodeHeader(resealed(stored))).toThrow(RangeError);
});

test('every single damaged byte of a header is noticed', () => {
  const stored = Buffer.from(encodeHeader(header()));
  for (let at = 0; at < stored.length; at += 1) {
    const damaged = Buffer.from(stored);
    damaged[at]! ^= 0x40;
    expect(() => decodeHeader(damaged), `byte ${at}`).toThrow(RangeError);
  }
  for (let length = 0; length < stored.length; length += 1) {
    expect(() => decodeHeader(stored.subarray(0, length)), `length ${length}`).toThrow(RangeError);
  }
});

const PLACE = { incarnation: ID, container: hexId('fedcba9876543210'), slot: 3, number: 42 };

function sealedPage(): { bytes: Uint8Array; crc: number } {
  const body = Buffer.concat([Buffer.from([1, 0x61, 0, 1, 1, 0x31]), Buffer.from([1, 0x62, 0, 2, 1, 0x32])]);
  return sealPage(parsePage(body), PLACE, 'none');
}

test('every single damaged byte of a page is noticed', () => {
  const { bytes, crc } = sealedPage();
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 0x01;
    expect(() => openPage(damaged, PLACE, crc), `byte ${at}`).toThrow(RangeError);
  }
});

test.each([
  ['incarnation', { incarnation: hexId('0000000000000001') }],
  ['container', { container: hexId('0000000000000001') }],
  ['slot', { slot: 4 }],
  ['number', { number: 43 }],
])('a whole page of another %s is noticed', (_, other) => {
  const { bytes, crc } = sealedPage();
  expect(() => openPage(bytes, { ...PLACE, ...other }, crc)).toThrow('another place');
});

test('a page that claims to expand beyond 2 MiB is refused before it is expanded', () => {
  const bomb = sealPage({ body: Buffer.alloc(3 * 1024 * 1024), starts: [0], mayHoldDead: false }, PLACE, 'zstd');
  expect(bomb.bytes.length).toBeLessThan(1_000);
  expect(() => openPage(bomb.bytes, PLACE, bomb.crc)).toThrow('more bytes');
});

test('a reader that meets a newer format fails and writes nothing', async () => {
  const state = memoryState();
  const writer = openStore({ driver: memoryDriver({ state }) });
  await (await writer.table('t')).put('k', 1);
  const [root] = [...state.entities.keys()];
  const driver = memoryDriver({ state });
  const [entity] = await driver.read([{ id: root!, parts: 'all' }], { timeoutMs: 1_000 });
  const newer = Buffer.from(entity!.parts.get(partName('h'))!);
  newer[2] = 2;
  const part = { name: partName('h'), bytes: newer, chunksBefore: 1 };
  await driver.write([{ kind: 'patch', id: root!, version: entity!.version, parts: [part] }], { timeoutMs: 1_000 });
  const before = structuredClone(state.entities);

  const reader = openStore({ driver: memoryDriver({ state }) });
  await expect(reader.table('t')).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringContaining('format 2') as string,
  });
  const table = await writer.table('t').catch((error: unknown) => error);
  expect(table).toMatchObject({ code: 'corrupt' });
  expect(state.entities).toEqual(before);
});

test('a header with an unknown state is refused', () => {
  const merged = Buffer.from(encodeHeader({ ...header(), state: 'merged' }));
  expect([merged[4], decodeHeader(merged).state]).toEqual([4, 'merged']);
  expect(Buffer.from(encodeHeader({ ...header(), state: 'retired' }))[4]).toBe(3);
  merged[4] = 5;
  expect(() => decodeHeader(resealed(merged))).toThrow(new RangeError('header holds the unknown tag 5'));
});
