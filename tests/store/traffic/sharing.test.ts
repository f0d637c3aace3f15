// When sharing a leaf with other processes is the worse bargain than a leaf of one's own.
import { expect, test } from 'vitest';
import type { Change } from '../../../shared/store/container/change.ts';
import type { PageRef } from '../../../shared/store/format/page-table.ts';
import { Sharing } from '../../../shared/store/traffic/sharing.ts';

const ROUND_TRIP_MS = 10;

/** A base of so many pages, and a position in one of them. */
const baseOf = (pages: number): PageRef[] =>
  Array.from({ length: pages }, (_, page) => ({ low: at(page, 0) }) as PageRef);
const at = (page: number, place: number): Uint8Array => Uint8Array.of(page, place);

const changesAt = (positions: readonly Uint8Array[], queuedMs = 0): Change[] =>
  positions.map((position) => ({ position, queuedMs }) as Change);

interface Costs {
  readonly commits: number;
  /** Of each change: requests, and round trips that it waits. */
  readonly requests: number;
  readonly trips: number;
  /** Where each commit's change lies. Default: far apart. */
  readonly positionOf?: (commit: number) => Uint8Array;
  /** Hears of the first fifty commits. */
  readonly seldom?: Sharing;
}

function shared({
  commits,
  requests,
  trips,
  positionOf = (commit) => at((commit * 7) % 16, commit),
  seldom = new Sharing(),
}: Costs): Sharing {
  const sharing = new Sharing();
  for (let commit = 0; commit < commits; commit += 1) {
    for (let request = 0; request < requests; request += 1) sharing.noteRequest();
    const changes = changesAt([positionOf(commit)]);
    sharing.noteCommit(changes, trips * ROUND_TRIP_MS, ROUND_TRIP_MS, seldom);
    sharing.notePosition(changes);
  }
  return sharing;
}

const nodesOf = (sharing: Sharing, seldom = new Sharing(), pages = 16): number => sharing.nodes(baseOf(pages), seldom);

test('a leaf is shared where a change costs no more than in a leaf of its own', () => {
  expect(nodesOf(shared({ commits: 1_000, requests: 2, trips: 2 }))).toBe(0);
  expect(nodesOf(shared({ commits: 1_000, requests: 1, trips: 1.6 }))).toBe(0);
});

/** Commits until a leaf is split whose changes take three requests and so many round trips each. */
function commitsUntilSplit(trips: number): number {
  let commits = 1;
  while (commits < 1_000 && nodesOf(shared({ commits, requests: 3, trips })) === 0) commits += 1;
  return commits;
}

test('a leaf is split where a change costs more, after the fewer commits the more it costs', () => {
  const [dear, dearer, dearest] = [commitsUntilSplit(2), commitsUntilSplit(3), commitsUntilSplit(10)];
  expect(dearest).toBe(4);
  expect(dearer).toBeGreaterThan(dearest);
  expect(dear).toBeGreaterThan(dearer);
  expect(dear).toBeLessThan(200);
});

test('a leaf is split among the more nodes the more a change costs, sixteen at most', () => {
  const positions = { positionOf: (commit: number) => at(commit % 16, 0) };
  expect(nodesOf(shared({ commits: 200, requests: 3, trips: 4, ...positions }))).toBe(3);
  expect(nodesOf(shared({ commits: 200, requests: 3, trips: 10, ...positions }))).toBe(8);
  expect(nodesOf(shared({ commits: 200, requests: 9, trips: 90, ...positions }))).toBeLessThanOrEqual(16);
});

test('many changes in a commit share its requests', () => {
  const sharing = new Sharing();
  for (let commit = 0; commit < 200; commit += 1) {
    for (let request = 0; request < 4; request += 1) sharing.noteRequest();
    const changes = changesAt(Array.from({ length: 10 }, (_, place) => at(place, commit)));
    sharing.noteCommit(changes, 5 * ROUND_TRIP_MS, ROUND_TRIP_MS, new Sharing());
    sharing.notePosition(changes);
  }
  expect(nodesOf(sharing)).toBe(0);
});

test('leaves that a process commits to seldom are judged together, a busy one by itself', () => {
  const seldom = new Sharing();
  const cost = { requests: 3, trips: 3, seldom };
  for (let leaves = 0; leaves < 20; leaves += 1) shared({ ...cost, commits: 5 });
  const leaf = shared({ ...cost, commits: 5 });
  expect(nodesOf(leaf)).toBe(0);
  expect(nodesOf(leaf, seldom)).toBeGreaterThan(0);
  // A leaf that is cheap itself stays, however dear the others are.
  expect(nodesOf(shared({ commits: 5, requests: 2, trips: 1 }), seldom)).toBe(0);
  // However often a busy leaf is written, it says no more about the others than its first commits.
  const beside = new Sharing();
  shared({ commits: 2_000, requests: 9, trips: 9, seldom: beside });
  for (let leaves = 0; leaves < 60; leaves += 1) shared({ requests: 2, trips: 2, commits: 5, seldom: beside });
  expect(nodesOf(shared({ requests: 2, trips: 2.5, commits: 5 }), beside)).toBe(0);
});

test('commits that take no time are no evidence, and spoil none that comes later', () => {
  const sharing = new Sharing();
  for (let commit = 0; commit < 20; commit += 1) sharing.noteCommit(changesAt([at(commit, 0)]), 0, 0, new Sharing());
  expect(nodesOf(sharing)).toBe(0);
  for (let commit = 0; commit < 500; commit += 1) {
    for (let request = 0; request < 9; request += 1) sharing.noteRequest();
    const changes = changesAt([at(commit % 16, 0)]);
    sharing.noteCommit(changes, 9 * ROUND_TRIP_MS, ROUND_TRIP_MS, new Sharing());
    sharing.notePosition(changes);
  }
  expect(nodesOf(sharing)).toBeGreaterThan(0);
});

test('a process that meets no others splits nothing, whatever its changes cost', () => {
  const sharing = new Sharing();
  for (let commit = 0; commit < 500; commit += 1) {
    for (let request = 0; request < 9; request += 1) sharing.noteRequest();
    sharing.noteCommit(changesAt([at(commit % 16, 0)]), 9 * ROUND_TRIP_MS, ROUND_TRIP_MS, new Sharing());
  }
  expect(nodesOf(sharing)).toBe(0);
});

test('one change that waited for long is no evidence', () => {
  const sharing = shared({ commits: 40, requests: 2, trips: 2 });
  sharing.noteCommit(changesAt([at(0, 0)], -3_600_000), 0, ROUND_TRIP_MS, new Sharing());
  expect(nodesOf(sharing)).toBe(0);
});

test('a leaf is not split where no split helps: at one record, or at one end', () => {
  const dear = { commits: 200, requests: 9, trips: 9 };
  expect(nodesOf(shared({ ...dear, positionOf: () => at(3, 1) }))).toBe(0);
  expect(nodesOf(shared({ ...dear, positionOf: (commit) => at(15, commit) }))).toBe(0);
  // Two records of a leaf of one page can have a leaf each.
  expect(nodesOf(shared({ ...dear, positionOf: (commit) => at(0, commit % 2) }), new Sharing(), 1)).toBe(2);
});
