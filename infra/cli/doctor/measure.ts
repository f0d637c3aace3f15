// Times requests of each kind, one after another, and makes a network profile of them, by which the
// comparison's emulators delay their answers.
import {
  CALL,
  freshPrefix,
  idsOfOneLane,
  insert,
  noise,
  part,
  patch,
  removeOne,
  writeOne,
  written,
} from '../../../shared/drivers/conformance/check-calls.ts';
import type { RoundTrip, SlowProfile } from '../../../shared/drivers/slow/profiles.ts';
import type { Driver, EntityId, EntityVersion } from '../../../shared/store/contract/driver.ts';

export interface Latency {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Measured {
  readonly latencies: Readonly<Record<string, Latency>>;
  /** Commits of one entity, one after another. */
  readonly commitsPerSecond: number;
  readonly profile: SlowProfile;
}

/** A request of several entities names so many, or as many as the driver allows. */
const SEVERAL = 20;
const SMALL_BYTES = 1_024;
const LARGE_BYTES = 256 * 1_024;
const KIB = 1_024;

/** Rejects if a request fails. `requests`: of each kind. */
export async function measure(
  driver: Driver,
  { requests, assumed, signal }: { requests: number; assumed: SlowProfile; signal: AbortSignal },
): Promise<Measured> {
  const times: Record<string, number[]> = {};
  const time = async (kind: string, ask: (at: number) => Promise<unknown>): Promise<void> => {
    const taken: number[] = (times[kind] = []);
    for (let at = 0; at < requests; at += 1) {
      signal.throwIfAborted();
      const beganMs = performance.now();
      await ask(at);
      taken.push(performance.now() - beganMs);
    }
  };
  const prefix = freshPrefix();
  const small = [part('h', noise(SMALL_BYTES), 1)];
  const large = [part('p0', noise(LARGE_BYTES), Math.ceil(LARGE_BYTES / driver.limits.chunkBytes))];
  const { readsMax, writesMax } = driver.limits;
  const some = idsOfOneLane(driver, `${prefix}s`, Math.min(SEVERAL, writesMax));
  const [one, big] = [`${prefix}one` as EntityId, `${prefix}big` as EntityId];

  const versions: EntityVersion[] = [];
  await time('insert', async (at) =>
    versions.push(await written(driver, insert(`${prefix}i${at}` as EntityId, small))),
  );
  await time('remove', async (at) => {
    const { kind } = await removeOne(driver, { id: `${prefix}i${at}` as EntityId, version: versions[at]! });
    if (kind !== 'removed') throw new Error(`a removal was ${kind}`);
  });
  const first = await written(driver, insert(one, small));
  let last = first;
  await time('commit', async () => (last = await written(driver, patch(one, last, small))));
  await time('commit at a stale version', () => writeOne(driver, patch(one, first, small)));
  await time('read', () => driver.read([{ id: one, parts: 'all' }], CALL));
  last = await written(driver, insert(big, large));
  await time('commit of 256 KiB', async () => (last = await written(driver, patch(big, last, large))));
  await time('read of 256 KiB', () => driver.read([{ id: big, parts: 'all' }], CALL));
  const inserts = some.map((id) => insert(id, small));
  let of = (await driver.write(inserts, CALL)).map(versionIn);
  await time(`commit of ${some.length} entities`, async () => {
    const patches = some.map((id, at) => patch(id, of[at]!, small));
    of = (await driver.write(patches, CALL)).map(versionIn);
  });
  const asked = some.slice(0, readsMax).map((id) => ({ id, parts: 'all' as const }));
  if (asked.length > 1) await time(`read of ${asked.length} entities`, () => driver.read(asked, CALL));
  await time('query', () => driver.list(prefix, undefined, SEVERAL, CALL));

  const median = (kind: string): number | undefined => (times[kind] === undefined ? undefined : at(times[kind], 0.5));
  const roundTrip = (kind: string): RoundTrip => {
    const ms = median(kind) ?? 0;
    const several = median(`${kind} of ${kind === 'read' ? asked.length : some.length} entities`) ?? ms;
    const bytesMs = median(`${kind} of 256 KiB`) ?? ms;
    return {
      ms: rounded(ms),
      furtherEntityMs: rounded(Math.max(0, several - ms) / Math.max(1, some.length - 1)),
      kibMs: rounded((Math.max(0, bytesMs - ms) * KIB) / LARGE_BYTES),
    };
  };
  const commits = times['commit']!;
  return {
    latencies: Object.fromEntries(Object.entries(times).map(([kind, taken]) => [kind, latencyOf(taken)])),
    commitsPerSecond: rounded((1_000 * commits.length) / commits.reduce((sum, ms) => sum + ms, 0)),
    profile: {
      // Limits and locks: requests one after another do not show them.
      ...assumed,
      read: roundTrip('read'),
      query: { ...roundTrip('query'), furtherEntityMs: 0, kibMs: roundTrip('read').kibMs },
      commit: roundTrip('commit'),
      ...spreadOf([times['read']!, commits, times['query']!]),
    },
  };
}

function versionIn(outcome: { readonly kind: string; readonly version?: EntityVersion }): EntityVersion {
  if (outcome.version === undefined) throw new Error(`a write among others was ${outcome.kind}`);
  return outcome.version;
}

/** A round trip this many times the median belongs to the tail and not to the spread. */
const TAIL_FACTOR = 3;

/** The standard deviation of the logarithms around each kind's median, and the tail above it. */
function spreadOf(kinds: readonly (readonly number[])[]): Pick<SlowProfile, 'sigma' | 'tail'> {
  const factors = kinds.flatMap((taken) => taken.map((ms) => ms / at(taken, 0.5)));
  const [body, far] = [factors.filter((one) => one < TAIL_FACTOR), factors.filter((one) => one >= TAIL_FACTOR)];
  const sigma = Math.sqrt(body.reduce((sum, factor) => sum + Math.log(factor) ** 2, 0) / body.length);
  const tail = { share: rounded(far.length / factors.length), factor: rounded(far.length === 0 ? 1 : at(far, 0.5)) };
  return { sigma: rounded(sigma), tail: far.length === 0 ? undefined : tail };
}

function latencyOf(taken: readonly number[]): Latency {
  const [p50Ms, p90Ms, p99Ms, maxMs] = [0.5, 0.9, 0.99, 1].map((share) => rounded(at(taken, share)));
  return { requests: taken.length, p50Ms: p50Ms!, p90Ms: p90Ms!, p99Ms: p99Ms!, maxMs: maxMs! };
}

function at(taken: readonly number[], share: number): number {
  const sorted = taken.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
