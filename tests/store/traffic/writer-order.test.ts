// How long a process leaves a container to others, always for a bounded time.
import { beforeEach, expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { Traffic } from '../../../shared/store/traffic/traffic.ts';
import { tagged, writersAhead } from '../../../shared/store/traffic/writer-order.ts';
import { entityId, hexId } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const ID = entityId('one');
const [MINE, B, C, D] = ['aaaa', 'bbbb', 'cccc', 'dddd'] as const;
const ROUND_TRIP_MS = 10;
const WAY = { loneRoundTripMs: ROUND_TRIP_MS, roundTripMs: ROUND_TRIP_MS };

let runtime: VirtualRuntime;
let traffic: Traffic;

beforeEach(() => {
  runtime = new VirtualRuntime(2);
  traffic = new Traffic(runtime, { reads: WAY, commitsWait: true }, MINE);
});

/** The container after commits of these, the last of which asks for a hold. */
function after(tags: readonly string[], holdForMs = 0): Snapshot {
  const ids = tags.map((tag, index) => tagged(hexId(index.toString(16).padStart(16, '0')), tag));
  const commitIds = Buffer.from(ids.join(''), 'hex');
  const header = { commitIds, commitCount: ids.length, holdForMs } as unknown as Header;
  return { id: ID, header, lastCommit: ids.at(-1) } as Snapshot;
}

/** The container with pages of so many bytes. */
function ofBytes(sealedBytes: number): Snapshot {
  const header = { pages: [{ sealedBytes, records: 1, chunksMost: 1 }] } as unknown as Header;
  return { id: ID, header } as Snapshot;
}

function look(foreignCommits: number): void {
  traffic.noteLook(ID, { foreignCommits, ms: 100, wasSplit: false });
}

/** A read shows a commit of another process, and tells nothing of rates. */
function meetAnother(): void {
  traffic.noteLook(ID, { foreignCommits: 1, ms: 0, wasSplit: false });
}

/** Many write the container: a commit every 5 ms, so two while one is under way. */
function makeBusy(): void {
  traffic.noteRoundTrip(ROUND_TRIP_MS, []);
  for (let looks = 0; looks < 400; looks += 1) look(20);
}

test.each([
  [40, [10, 5, 0], 35],
  [3_600_000, [1_000, 1, 0], 999],
])(
  'a hold of %i ms is waited for in short steps, once, and no longer than that or a second',
  async (ms, rests, passMs) => {
    const held = after([B], ms);
    expect(traffic.restMs(held)).toBe(rests[0]);
    await runtime.advance(passMs);
    expect(traffic.restMs(held)).toBe(rests[1]);
    await runtime.advance(rests[1]!);
    expect(traffic.restMs(held)).toBe(rests[2]);
    await runtime.advance(1_000);
    expect(traffic.restMs(held)).toBe(0);
  },
);

test('another hold is waited for anew, and a commit without one ends it', async () => {
  expect(traffic.restMs(after([B], 40))).toBe(10);
  expect(traffic.restMs(after([B, C]))).toBe(0);
  await runtime.advance(100);
  expect(traffic.restMs(after([B, C, B], 40))).toBe(10);
});

test('an own hold is not waited for', () => {
  const held = after([MINE], 40);
  traffic.noteOwnHold(ID, held.lastCommit);
  expect(traffic.restMs(held)).toBe(0);
});

test('a split is given five round trips, and a second at most', () => {
  expect(traffic.holdMs(ofBytes(0))).toBe(0);
  traffic.noteRoundTrip(ROUND_TRIP_MS, []);
  expect(traffic.holdMs(ofBytes(0))).toBe(5 * ROUND_TRIP_MS);
  // And what its bytes take.
  expect(traffic.holdMs(ofBytes(204_800))).toBe(5 * ROUND_TRIP_MS + 100);
  for (let replies = 0; replies < 200; replies += 1) traffic.noteRoundTrip(500, []);
  expect(traffic.holdMs(ofBytes(0))).toBe(1_000);
});

test('who met nobody rests for nobody', () => {
  traffic.noteRoundTrip(ROUND_TRIP_MS, []);
  for (let commits = 0; commits < 400; commits += 1) traffic.noteCommit(ID, []);
  expect(traffic.restMs(after([MINE, B, C, MINE]))).toBe(0);
});

test('who met another waits the longer the more others have waited longer, but for the second', () => {
  makeBusy();
  meetAnother();
  expect(traffic.restMs(after([B, MINE]))).toBe(0);
  const one = traffic.restMs(after([B, C, MINE]));
  const two = traffic.restMs(after([B, C, D, MINE]));
  expect(one).toBeGreaterThan(0);
  expect(two).toBeCloseTo(2 * one);
  // It is its turn.
  expect(traffic.restMs(after([B, C, MINE, B, C]))).toBe(0);
});

test('a turn is over when its time is, and where nobody came there are no more turns', async () => {
  makeBusy();
  meetAnother();
  const shown = after([B, C, MINE]);
  const restMs = traffic.restMs(shown);
  await runtime.advance(restMs / 2);
  expect(traffic.restMs(shown)).toBeCloseTo(restMs / 2);
  await runtime.advance(restMs / 2);
  expect(traffic.restMs(shown)).toBe(0);
  expect(traffic.restMs(after([B, C, MINE, MINE]))).toBe(0);
  // Until one is met again.
  meetAnother();
  expect(traffic.restMs(after([B, C, MINE, MINE, MINE]))).toBeGreaterThan(0);
});

test('however many wait, a turn comes within a second', () => {
  for (let replies = 0; replies < 200; replies += 1) traffic.noteRoundTrip(500, []);
  for (let looks = 0; looks < 400; looks += 1) look(20);
  meetAnother();
  const many = Array.from({ length: 30 }, (_, each) => (0xb000 + each).toString(16));
  expect(traffic.restMs(after([...many, MINE]))).toBe(1_000);
});

test('eight own commits after the last of another there are no more turns', () => {
  makeBusy();
  meetAnother();
  const others: string[] = [B, C];
  const rests = Array.from({ length: 10 }, () => {
    others.push(MINE);
    const restMs = traffic.restMs(after(others));
    traffic.noteCommit(ID, []);
    return restMs > 0;
  });
  expect(rests).toEqual([...Array.from({ length: 8 }, () => true), false, false]);
});

test('where hardly anyone writes there are no turns', () => {
  traffic.noteRoundTrip(ROUND_TRIP_MS, []);
  for (let looks = 0; looks < 400; looks += 1) look(0.1);
  meetAnother();
  expect(traffic.restMs(after([B, C, MINE]))).toBe(0);
});

test('who never had a turn tries at once, and again after one refusal; after more it waits, once each', () => {
  makeBusy();
  const tags: string[] = [B, C];
  const refuse = (): number => {
    traffic.noteFailure(ID, true);
    tags.push(B);
    return traffic.restMs(after(tags));
  };
  meetAnother();
  expect(traffic.restMs(after(tags))).toBe(0);
  expect(refuse()).toBe(0);
  for (const most of [4, 8, 8, 8]) {
    const restMs = refuse();
    expect(restMs).toBeGreaterThan(0);
    expect(restMs).toBeLessThanOrEqual(most * ROUND_TRIP_MS);
    tags.push(C);
    expect(traffic.restMs(after(tags))).toBe(0);
  }
});

test('who is refused after a line rests at random, up to twice as long as the line was', () => {
  const rests: number[] = [];
  traffic.noteRoundTrip(ROUND_TRIP_MS, []);
  meetAnother();
  for (let refusals = 0; refusals < 40; refusals += 1) {
    traffic.noteRoundTrip(100, [ID]);
    traffic.noteFailure(ID, true);
    rests.push(traffic.restMs(after(Array.from({ length: refusals + 1 }, () => B))));
  }
  expect(rests[0]).toBeGreaterThan(0);
  expect(Math.max(...rests)).toBeGreaterThan(100);
  expect(Math.max(...rests)).toBeLessThanOrEqual(200);
  // After a quick refusal nobody stands in line.
  traffic.noteRoundTrip(ROUND_TRIP_MS, [ID]);
  traffic.noteFailure(ID, true);
  expect(traffic.restMs(after([B, C]))).toBe(0);
});

test.each([
  [3, true, 'turns'],
  [3, false, 'none'],
  [8, false, 'turns'],
])('%i commits in ten round trips, commits stand in line: %s: %s', (foreignCommits, commitsWait, expected) => {
  traffic = new Traffic(runtime, { reads: WAY, commitsWait }, MINE);
  traffic.noteRoundTrip(ROUND_TRIP_MS, []);
  for (let looks = 0; looks < 400; looks += 1) look(foreignCommits);
  meetAnother();
  expect(traffic.restMs(after([B, C, MINE])) > 0 ? 'turns' : 'none').toBe(expected);
});

test('who never wrote it, or not for 32 commits, is new; who wrote often counts once; who left that long ago has no turn', () => {
  const ahead = (...tags: readonly string[]) => writersAhead(after(tags).header, MINE);
  expect([ahead(), ahead(B, C), ahead(MINE, MINE), ahead(B, C, B, C, MINE)]).toEqual([undefined, undefined, 0, 2]);
  const others = Array.from({ length: 31 }, () => B);
  expect([ahead(MINE, ...others), ahead(MINE, ...others, B)]).toEqual([0, undefined]);
  const own = Array.from({ length: 31 }, () => MINE);
  expect([ahead(B, ...own), ahead(B, ...own, MINE)]).toEqual([1, 0]);
});

test('an id begins with the tag of its process, and is its own beyond it', () => {
  expect(tagged(hexId('0123456789abcdef'), MINE)).toBe('aaaa456789abcdef');
});
