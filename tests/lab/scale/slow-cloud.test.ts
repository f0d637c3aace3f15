// A slow cloud answers late, takes no more than its rates, and lets commits of an entity wait.
import { expect, test } from 'vitest';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { ScheduledRuntime } from '../../../shared/lab/kit/scheduled-runtime.ts';
import { Scheduler } from '../../../shared/lab/kit/scheduler.ts';
import { SlowCloud, type SlowProfile, type SlowRequest } from '../../../shared/lab/scale/slow-cloud.ts';
import { entityId } from '../../support/ids.ts';

const EVEN: SlowProfile = { readMs: 4, commitMs: 10, sigma: 0, locksEntities: false };

/** When each request has its effect; undefined: it is throttled. All are sent at once. */
async function arrivals(profile: SlowProfile, requests: readonly SlowRequest[]): Promise<(number | undefined)[]> {
  const scheduler = new Scheduler(1);
  const cloud = new SlowCloud(profile, new ScheduledRuntime(scheduler, seededRandom(1)), seededRandom(2));
  const sent = requests.map(async (request) => {
    const arrived = await cloud.arrive(request);
    return arrived && scheduler.nowMs;
  });
  await scheduler.run(Promise.all(sent), 1_000);
  return Promise.all(sent);
}

const commitOf = (id: string, partition = 'p'): SlowRequest => ({ kind: 'commit', ids: [entityId(id)], partition });

test('a request has its effect after half of its round trip', async () => {
  const read: SlowRequest = { ...commitOf('a'), kind: 'read' };
  expect(await arrivals(EVEN, [commitOf('a'), read])).toEqual([5, 2]);
});

test('commits of one entity take effect one after the other where the service locks it', async () => {
  const commits = [commitOf('a'), commitOf('a'), commitOf('a'), commitOf('b')];
  const locked = await arrivals({ ...EVEN, locksEntities: true }, commits);
  expect(locked.toSorted((a, b) => a! - b!)).toEqual([5, 5, 10, 15]);
  expect(await arrivals(EVEN, commits)).toEqual([5, 5, 5, 5]);
});

test('a partition and an account take what their rates allow, and throttle the rest', async () => {
  const many = Array.from({ length: 8 }, (_, at) => commitOf(`e${at}`, at < 4 ? 'p' : 'q'));
  const taken = async (rates: Partial<SlowProfile>): Promise<number> =>
    (await arrivals({ ...EVEN, ...rates }, many)).filter((ms) => ms !== undefined).length;
  expect(await taken({})).toBe(8);
  // A bucket holds what is taken in a tenth of a second.
  expect(await taken({ partitionPerSecond: 30 })).toBe(6);
  expect(await taken({ accountPerSecond: 50 })).toBe(5);
});
