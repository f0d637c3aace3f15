// One round each, as npm run soak -- --real plays them for minutes.
import { afterAll, describe, expect, test } from 'vitest';
import { Chance } from '../simulation/chance.ts';
import { Events } from '../simulation/events.ts';
import { azurePlace, datastorePlace } from './place.ts';
import { FaultyProxy } from './proxy.ts';
import { playRound } from './round.ts';

const places = await Promise.all([datastorePlace(), azurePlace()]);
afterAll(() => Promise.all(places.map((place) => place.close())));

/** It has few keys. */
const SEED = 1;

describe.each(places)('$driver', (place) => {
  test('whatever fails, no answer contradicts another', async () => {
    const { complaints, counts } = await playRound(place, SEED);
    expect(complaints).toEqual([]);
    expect(counts.get('operation')).toBeGreaterThan(200);
    expect(counts.get('scan to its end')).toBeGreaterThan(1);
  }, 600_000);
});

test('a provider that is down refuses connections', async () => {
  const events = new Events(false, () => 0);
  const proxy = await FaultyProxy.before({ targetPort: places[0].port, chance: new Chance(1), events });
  proxy.refuse(600_000);
  await expect(fetch(`http://127.0.0.1:${proxy.port}`)).rejects.toThrow('fetch failed');
  expect(events.counts.get('network: provider down')).toBe(1);
  proxy.close();
});
