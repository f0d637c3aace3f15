// A slow cloud answers late, takes no more than its rates, and lets commits of an entity wait.
import { expect, test } from 'vitest';
import {
  AZURE_TABLES_PROFILE,
  DATASTORE_PROFILE,
  evenly,
  type SlowProfile,
} from '../../../shared/drivers/slow/profiles.ts';
import { SlowCloud, type SlowRequest } from '../../../shared/drivers/slow/slow-cloud.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { ScheduledRuntime, Scheduler } from '../../../shared/lab/kit/virtual-time.ts';

const of = (ms: number) => ({ ms, furtherEntityMs: 0, kibMs: 0 });
const EXACT: SlowProfile = { read: of(4), query: of(6), commit: of(10), sigma: 0, locksEntities: false };

interface Passed {
  readonly effectMs: number;
  readonly replyMs: number;
  readonly isThrottled: boolean;
}

/** What becomes of requests that are sent at once, or each when the one before is answered. */
async function pass(
  profile: SlowProfile,
  requests: readonly SlowRequest[],
  { inTurn = false, replyBytes = 0 } = {},
): Promise<Passed[]> {
  const scheduler = new Scheduler(1);
  const cloud = new SlowCloud(profile, new ScheduledRuntime(scheduler, seededRandom(1)), seededRandom(2));
  const passOne = async (request: SlowRequest): Promise<Passed> => {
    const sentMs = scheduler.nowMs;
    const { isThrottled, reply } = await cloud.arrive(request);
    const effectMs = scheduler.nowMs - sentMs;
    await reply(replyBytes);
    return { effectMs, replyMs: scheduler.nowMs - sentMs, isThrottled };
  };
  const passAll = async (): Promise<Passed[]> => {
    if (!inTurn) return await Promise.all(requests.map(passOne));
    const passed: Passed[] = [];
    for (const request of requests) passed.push(await passOne(request));
    return passed;
  };
  const passing = passAll();
  await scheduler.run(passing, 1_000_000);
  return await passing;
}

const commitOf = (id: string, partition = 'p'): SlowRequest => ({ kind: 'commit', ids: [id], bytes: 0, partition });
const READ: SlowRequest = { kind: 'read', ids: ['a'], bytes: 0 };
const QUERY: SlowRequest = { kind: 'query', ids: [], bytes: 0 };

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

test('a request has its effect in the middle of its round trip', async () => {
  expect(await pass(EXACT, [commitOf('a'), READ, QUERY])).toMatchObject([
    { effectMs: 5, replyMs: 10 },
    { effectMs: 2, replyMs: 4 },
    { effectMs: 3, replyMs: 6 },
  ]);
});

test('a request takes longer for further entities and for bytes, sent or answered', async () => {
  const commit = { ms: 10, furtherEntityMs: 2, kibMs: 1 };
  const request = { ...commitOf('a'), ids: ['a', 'b', 'c'], bytes: 4_096 };
  expect(await pass({ ...EXACT, commit }, [request], { replyBytes: 2_048 })).toMatchObject([
    { effectMs: 9, replyMs: 20 },
  ]);
});

test('commits of one entity take effect one after the other where the service locks it', async () => {
  const commits = [commitOf('a'), commitOf('a'), commitOf('a'), commitOf('b')];
  const effectsOf = async (profile: SlowProfile) =>
    (await pass(profile, commits)).map(({ effectMs }) => effectMs).toSorted((a, b) => a - b);
  expect(await effectsOf({ ...EXACT, locksEntities: true })).toEqual([5, 5, 10, 15]);
  expect(await effectsOf(EXACT)).toEqual([5, 5, 5, 5]);
});

test('a partition and an account take what their rates allow, and throttle the rest', async () => {
  const many = Array.from({ length: 8 }, (_, at) => commitOf(`e${at}`, at < 4 ? 'p' : 'q'));
  const taken = async (rates: Partial<SlowProfile>, options = {}): Promise<number> =>
    (await pass({ ...EXACT, ...rates }, many, options)).filter(({ isThrottled }) => !isThrottled).length;
  expect(await taken({})).toBe(8);
  // A bucket holds what is taken in a second.
  expect(await taken({ partitionPerSecond: 3 })).toBe(6);
  expect(await taken({ accountPerSecond: 5 })).toBe(5);
  // It fills again as time passes.
  expect(await taken({ accountPerSecond: 5, commit: of(200) }, { inTurn: true })).toBe(8);
});

test('ten thousand other partitions give a throttled one nothing', async () => {
  const others = Array.from({ length: 10_000 }, (_, at) => commitOf('a', `other ${at}`));
  const passed = await pass({ ...EXACT, partitionPerSecond: 1 }, [commitOf('a'), ...others, commitOf('a')]);
  expect(passed.filter(({ isThrottled }) => isThrottled)).toHaveLength(1);
});

test('the n-th request takes the n-th draw, whoever sends the others and when', async () => {
  const profile = { ...DATASTORE_PROFILE, locksEntities: false, commit: DATASTORE_PROFILE.read };
  const mixed = Array.from({ length: 400 }, (_, at) => (at % 3 === 0 ? commitOf(`c${at}`) : READ));
  const timesOf = async (requests: readonly SlowRequest[], inTurn: boolean) =>
    (await pass(profile, requests, { inTurn })).map(({ replyMs }) => Math.round(replyMs * 1_000));
  const reads = await timesOf(
    mixed.map(() => READ),
    true,
  );
  expect(await timesOf(mixed, false)).toEqual(reads);
  expect(new Set(reads).size).toBeGreaterThan(390);
});

test.each([
  ['Datastore', DATASTORE_PROFILE],
  ['Azure', AZURE_TABLES_PROFILE],
  ['25 ms', evenly(25, AZURE_TABLES_PROFILE)],
])('requests of the profile %s have its medians, its spread and its tail', async (_, profile) => {
  for (const request of [READ, QUERY, commitOf('a')]) {
    const unlimited = { ...profile, locksEntities: false, partitionPerSecond: Infinity };
    const times = (await pass(unlimited, Array<SlowRequest>(4_000).fill(request))).map(({ replyMs }) => replyMs);
    const { ms } = profile[request.kind];
    expect(medianOf(times) / ms).toBeCloseTo(1, 1);
    const logarithms = times.map((time) => Math.abs(Math.log(time / ms)));
    // Half of a normal distribution lies within 0.674 of its sigma.
    expect(medianOf(logarithms) / (0.674 * profile.sigma)).toBeCloseTo(1, 0);
    const late = times.filter((time) => time > ms * Math.exp(4 * profile.sigma)).length;
    expect(late > 0).toBe(profile.tail !== undefined);
  }
});

test('a request whose signal aborts waits no longer', async () => {
  const scheduler = new Scheduler(1);
  const cloud = new SlowCloud(EXACT, new ScheduledRuntime(scheduler, seededRandom(1)), seededRandom(2));
  const gone = new AbortController();
  scheduler.at(3, () => gone.abort());
  const arriving = cloud.arrive(commitOf('a'), gone.signal).then(({ reply }) => reply(0, gone.signal));
  await scheduler.run(arriving, 1_000);
  expect(scheduler.nowMs).toBe(3);
});
