// One round per emulator; npm run soak -- --real plays such rounds for minutes.
import { afterAll, describe, expect, test } from 'vitest';
import { azurePlace, datastorePlace } from './emulator-place.ts';
import { playRound } from './round.ts';

const places = await Promise.all([datastorePlace(), azurePlace()]);
afterAll(() => Promise.all(places.map((place) => place.close())));

/** It has few keys. */
const SEED = 1;

describe.each(places)('$driver', (place) => {
  test('a round with faults of all kinds has no two answers that contradict each other', async () => {
    const { complaints, counts } = await playRound(place, SEED);
    expect(complaints).toEqual([]);
    expect(counts.get('operation')).toBeGreaterThan(200);
    expect(counts.get('scan to its end')).toBeGreaterThan(1);
  }, 600_000);
});
