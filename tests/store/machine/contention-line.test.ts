// Writers of one record whose commits stand in line, played in virtual time: advice alone decides.
import { expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { tagged } from '../../../shared/store/format/header.ts';
import { advise, newContention, note } from '../../../shared/store/machine/contention.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { Scheduler } from '../../../shared/lab/kit/virtual-time.ts';
import { entityId, hexId } from '../../support/ids.ts';

const ID = entityId('one');
const [READ_MS, COMMIT_MS, PLAYED_MS] = [10, 40, 60_000];
const WAY = {
  reads: { roundTripMs: READ_MS },
  commits: { roundTripMs: COMMIT_MS, meanRoundTripMs: COMMIT_MS },
  commitsWait: true,
};

/** The container after these commits. */
function shown(ids: readonly string[], monotonicMs: number): Snapshot {
  const commitIds = Buffer.from(ids.slice(-32).join(''), 'hex');
  const header = { level: 0, layers: [[]], pages: [], commitIds, freezeMs: 0 };
  const seen = { tick: 1, wallMs: 0, monotonicMs };
  return { id: ID, header, seen, lastCommit: ids.at(-1) } as unknown as Snapshot;
}

/** The most refusals in a row that one of the writers meets in a minute. */
async function refusalsMost(writers: number, seed: number): Promise<number> {
  const scheduler = new Scheduler(seed);
  const random = seededRandom(seed);
  const ids: string[] = [];
  let freeMs = 0;
  let most = 0;
  const pass = (ms: number) => new Promise<void>((done) => scheduler.at(scheduler.nowMs + ms, done));
  const write = async (tag: string): Promise<void> => {
    const contention = newContention(tag, WAY);
    let [seenCount, seenMs, inARow] = [0, 0, 0];
    while (scheduler.nowMs < PLAYED_MS) {
      await pass(READ_MS * (0.5 + random()));
      const { nowMs } = scheduler;
      const base = ids.length;
      const look = { foreignCommits: base - seenCount, ms: nowMs - seenMs, wasSplit: false };
      note(contention, ID, { kind: 'look', ...look }, nowMs);
      [seenCount, seenMs] = [base, nowMs];
      const snapshot = shown(ids, nowMs);
      const { yieldMs } = advise(contention, snapshot, nowMs, random);
      if (yieldMs > 0) {
        note(contention, ID, { kind: 'yield', after: snapshot.lastCommit }, nowMs);
        await pass(yieldMs);
        continue;
      }
      freeMs = Math.max(freeMs, nowMs) + COMMIT_MS;
      await pass(freeMs - nowMs);
      const tookMs = scheduler.nowMs - nowMs;
      if (ids.length > base) {
        note(contention, ID, { kind: 'failure', isRefused: true, tookMs }, scheduler.nowMs);
        most = Math.max(most, (inARow += 1));
        continue;
      }
      ids.push(tagged(hexId(ids.length.toString(16).padStart(16, '0')), tag));
      const changes = [{ queuedMs: nowMs, position: Uint8Array.of(1) }];
      note(contention, ID, { kind: 'commit', changes }, scheduler.nowMs);
      [seenCount, inARow] = [ids.length, 0];
      await pass(READ_MS * random());
    }
  };
  const all = Array.from({ length: writers }, (_, each) => write((0xa000 + each).toString(16)));
  await scheduler.run(Promise.all(all), 1_000_000);
  return most;
}

// If waits did not grow, the line would never end: 64, 92 and 61 refusals in a row here.
test.each([1, 2, 3])('a line at one record ends, so that none of twelve writers starves: seed %i', async (seed) => {
  expect(await refusalsMost(12, seed)).toBeLessThan(40);
});
