// A rolling deployment: two releases serve the same callers from the same containers. The former
// one's containers and tags are kept here.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { MemoryState } from '../../../shared/drivers/memory/effects.ts';
import { openStore } from '../../../shared/store/index.ts';
import { goldenState } from '../../store/golden/state.ts';
import { JSON_TYPE } from '../suite/http-client.ts';
import { partName } from '../../support/ids.ts';
import { served } from './served.ts';

const RECORDS = '/v1/tables/golden/records';
/** The first version's answer to GET of `key-99`. */
const ETAG = '"c67edfd69d865681-7"';
/** The first version's answer to GET of the records with `limit=100`. */
const CURSOR = 'AQDGft_WnYZWgQ7HtEoidXX6w2tleS02AADBd6mM';

const instanceOn = (state: MemoryState) => served(openStore({ driver: memoryDriver({ state }) }));

const formatsOf = ({ entities }: MemoryState): Set<number> =>
  new Set(
    [...entities.values()].flatMap(({ parts }) => (parts.has(partName('h')) ? [parts.get(partName('h'))![2]!] : [])),
  );

test('an ETag that the former release gave still names its record', async () => {
  const { admin, put } = instanceOn(await goldenState('zstd'));
  expect((await admin(`${RECORDS}/key-99`)).headers.get('ETag')).toBe(ETAG);
  expect((await put(`${RECORDS}/key-99`, JSON_TYPE, '1', { 'If-Match': ETAG })).status).toBe(204);
  expect((await put(`${RECORDS}/key-99`, JSON_TYPE, '2', { 'If-Match': ETAG })).status).toBe(412);
});

test('a cursor that the former release gave goes on where it stopped', async () => {
  const { json } = instanceOn(await goldenState('zstd'));
  const page = (query: string) => json<{ records: { key: string }[] }>(`${RECORDS}?limit=1000${query}`);
  const [whole, rest] = [await page(''), await page(`&cursor=${CURSOR}`)];
  expect(rest.records.map(({ key }) => key)).toEqual(whole.records.slice(100).map(({ key }) => key));
  expect(rest.records.length).toBeGreaterThan(0);
});

test('what this release writes into the former one’s containers is in the format that one reads', async () => {
  const state = await goldenState('deflate');
  const before = formatsOf(state);
  const { batch, admin } = instanceOn(state);
  const puts = Array.from({ length: 200 }, (_, at) => ({ op: 'put', key: `new-${at}`, value: 'x'.repeat(500) }));
  await batch('/v1/tables/golden', [...puts, { op: 'delete', key: 'key-99' }]);
  expect(formatsOf(state)).toEqual(before);
  expect((await admin(`${RECORDS}/new-199`)).status).toBe(200);
});
