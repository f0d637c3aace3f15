// What a process sees of a container that others write, and what it is advised to do.
import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { tagged } from '../../../shared/store/format/header.ts';
import type { PageRef } from '../../../shared/store/format/page-table.ts';
import { type Advice, advise, newContention, note, type Sighting } from '../../../shared/store/machine/contention.ts';
import { entityId, hexId } from '../../support/ids.ts';

const [ID, OTHER] = [entityId('one'), entityId('other')];
const [MINE, B, C, D] = ['aaaa', 'bbbb', 'cccc', 'dddd'] as const;
const MS = 10;
/** A round trip takes 10 ms, and commits stand in line. */
const WAY = { reads: { roundTripMs: MS }, commits: { roundTripMs: MS, meanRoundTripMs: MS }, commitsWait: true };

/** A sighting, and the time that passes before it. */
type Told = readonly [passedMs: number, sighting: Sighting, id?: typeof ID];

type Row = Told | ((nowMs: number) => Told);

const times = (count: number, ...told: readonly Row[]): Row[] => Array.from({ length: count }, () => told).flat();
const look = (foreignCommits: number, ms = 100): Told => [
  Math.max(0, ms),
  { kind: 'look', foreignCommits, ms, wasSplit: false },
];
/** A commit of one change at this position, which waited for `waitedMs`. */
const commit =
  (at = 0, waitedMs = 0, passedMs = MS, id = ID) =>
  (nowMs: number): Told => [
    passedMs,
    { kind: 'commit', changes: [{ queuedMs: nowMs + passedMs - waitedMs, position: Uint8Array.of(at) }] },
    id,
  ];
const refused: Told = [0, { kind: 'failure', isRefused: true, tookMs: MS }];

function after(rows: readonly Row[], way = WAY) {
  const contention = newContention(MINE, way);
  let nowMs = 0;
  for (const row of rows) {
    const [passedMs, sighting, id = ID] = typeof row === 'function' ? row(nowMs) : row;
    nowMs += passedMs;
    note(contention, id, sighting, nowMs);
  }
  return { contention, nowMs };
}

interface Shown {
  readonly ageMs?: number;
  /** Who made its last commits. */
  readonly by?: readonly string[];
  readonly freezeMs?: number;
  readonly pages?: number;
  readonly pageBytes?: number;
  readonly id?: typeof ID;
}

/** The container as it was seen last. */
function shown(
  { ageMs = 0, by = [], freezeMs = 0, pages = 16, pageBytes = 0, id = ID }: Shown,
  nowMs: number,
): Snapshot {
  const ids = by.map((tag, index) => tagged(hexId(index.toString(16).padStart(16, '0')), tag));
  const refs = Array.from(
    { length: pages },
    (_, page) => ({ low: Uint8Array.of(page * 16), records: 100, sealedBytes: pageBytes, chunksMost: 1 }) as PageRef,
  );
  const header = { level: 0, layers: [], pages: refs, commitIds: Buffer.from(ids.join(''), 'hex'), freezeMs };
  const seen = { tick: 1, wallMs: 0, monotonicMs: nowMs - ageMs };
  return { id, header, seen, lastCommit: ids.at(-1) } as unknown as Snapshot;
}

function advised(rows: readonly Row[], what: Shown = {}, way = WAY, draw = 0): Advice {
  const { contention, nowMs } = after(rows, way);
  return advise(contention, shown(what, nowMs), nowMs, () => draw);
}

const OTHERS_WRITE = times(200, look(1));

describe('read first', () => {
  test.each<[string, Row[], Shown, boolean]>([
    ['others commit ten times a second, and had 5 ms', OTHERS_WRITE, { ageMs: 5 }, false],
    ['others had 50 ms', OTHERS_WRITE, { ageMs: 50 }, true],
    ['nobody else writes', times(200, look(0)), { ageMs: 3_600_000 }, false],
    ['others wrote a minute ago', [...OTHERS_WRITE, ...times(600, look(0))], { ageMs: 50 }, false],
    ['a thousand commits in an hour are no rush now', [look(1_000, 3_600_000)], { ageMs: 50 }, false],
    ['replies older than the one before', [look(1_000, -5), look(1_000, 0)], { ageMs: 5_000 }, false],
    ['a container not known yet is like the others', OTHERS_WRITE, { ageMs: 50, id: OTHER }, true],
  ])('%s', (_, rows, what, expected) => {
    expect(advised(rows, what).readFirst).toBe(expected);
  });
});

describe('a look between commits in a row', () => {
  const once: Row[] = [...times(200, look(0)), look(1, 3_600_000), ...times(8, look(0, MS))];
  const met: Row[] = [...once, look(1, MS), commit()];
  test.each<[string, Row[], Shown, boolean]>([
    ['none for a process that never met another', times(64, commit()), { ageMs: MS }, false],
    ['none after commits that met none', [...once, ...times(31, commit())], { ageMs: MS }, false],
    ['none where a read has shown it since', [...once, look(1, MS)], { ageMs: MS }, false],
    ['one after each commit, once one met another', met, { ageMs: MS }, true],
    ['until eight met none', [...met, ...times(8, look(0, MS)), commit()], { ageMs: MS }, false],
    ['none where pauses leave others their chance', met, { ageMs: 3 * MS }, false],
  ])('%s', (_, rows, what, expected) => {
    expect(advised(rows, what).readFirst).toBe(expected);
  });
});

describe('yield', () => {
  /** Two commits of others in a round trip. */
  const BUSY = times(400, look(20));
  const yielded = (by: string[]): Told => [0, { kind: 'yield', after: shown({ by }, 0).lastCommit }];
  test.each<[string, Row[], Shown, number]>([
    ['a process that met nobody yields to nobody', times(400, commit()), { by: [B, C, MINE] }, 0],
    ['nobody yields where hardly anyone writes', times(400, look(0.1)), { by: [B, C, MINE] }, 0],
    ['a process that never wrote tries at once', BUSY, { by: [B, C] }, 0],
    ['the first in order tries at once', BUSY, { by: [B, C, MINE, B, C] }, 0],
    ['the second tries at once, too', BUSY, { by: [B, MINE] }, 0],
    ['the third waits', BUSY, { by: [B, C, MINE] }, 4],
    ['the fourth waits twice as long', BUSY, { by: [B, C, D, MINE] }, 8],
    ['the third waits once', [...BUSY, yielded([B, C, MINE])], { by: [B, C, MINE] }, 0],
    ['after another commit its turn has come', [...BUSY, yielded([B, C, MINE])], { by: [C, D, MINE, D] }, 0],
    ['nobody waits more than sixteen times in a row', [...BUSY, ...times(16, yielded([B]))], { by: [B, C, MINE] }, 0],
    ['a refusal lets a process wait again', [...BUSY, ...times(16, yielded([B])), refused], { by: [B, C, MINE] }, 4],
    ['nobody waits after eight own commits', [...BUSY, ...times(8, commit())], { by: [B, C, MINE] }, 0],
    ['a freeze is waited for in steps', [], { by: [B], freezeMs: 40 }, 10],
    ['a freeze is waited for until its end', [yielded([B]), [35, look(0, 35)[1]]], { by: [B], freezeMs: 40 }, 5],
    ['a freeze is waited for once', [yielded([B]), [40, look(0, 40)[1]]], { by: [B], freezeMs: 40 }, 0],
    ['another freeze is waited for anew', [yielded([B]), [40, look(0, 40)[1]]], { by: [B, C], freezeMs: 40 }, 10],
    ['a freeze is waited for a second at most', [], { by: [B], freezeMs: 3_600_000 }, 1_000],
    ['a freeze is not waited for after sixteen waits', times(16, yielded([C])), { by: [B], freezeMs: 40 }, 0],
    [
      'an own freeze is not waited for',
      [[0, { kind: 'freeze', by: shown({ by: [MINE] }, 0).lastCommit }]],
      { by: [MINE], freezeMs: 40 },
      0,
    ],
  ])('%s', (_, rows, what, expected) => {
    expect(advised(rows, what).yieldMs).toBeCloseTo(expected, 1);
  });

  test('a process waits for a second at most', () => {
    const way = { ...WAY, commits: { roundTripMs: 500, meanRoundTripMs: 500 } };
    const many = Array.from({ length: 30 }, (_, each) => (0xb000 + each).toString(16));
    expect(advised(times(400, look(0.1)), { by: [...many, MINE] }, way).yieldMs).toBe(1_000);
  });

  const line: Told = [0, { kind: 'failure', isRefused: true, tookMs: 100 }];
  const again: Told = [0, { kind: 'yield', after: hexId('cccccccccccccccc') }];
  test.each<[string, Row[], boolean, number]>([
    ['one refusal may be chance', [...BUSY, refused], true, 0],
    ['a writer that nobody names thins out after two', [...BUSY, refused, refused], true, 40],
    ['it waits the longer, the more refusals it met', [...BUSY, ...times(9, refused)], true, 80],
    ['it waits once per refusal', [...BUSY, refused, refused, again], true, 0],
    ['a writer that stood in line waits twice as long', [line], true, 200],
    ['it waits so once', [line, again], true, 0],
    ['the next time four times as long', [line, again, line], true, 400],
    ['and eight times at most', [line, line, line, line, line], true, 800],
    ['where nobody stands in line a slow refusal is nothing else', [line], false, 0],
    [
      'nor is it once the container was split',
      [line, [0, { kind: 'look', foreignCommits: 1, ms: 0, wasSplit: true }]],
      true,
      0,
    ],
  ])('%s', (_, rows, commitsWait, expected) => {
    expect(advised(rows, { by: [B, C] }, { ...WAY, commitsWait }, 1).yieldMs).toBe(expected);
  });

  test.each([
    [3, true, true],
    [3, false, false],
    [8, false, true],
  ])('%i commits in ten round trips, commits stand in line: %s: %s', (foreignCommits, commitsWait, expected) => {
    const rows = times(400, look(foreignCommits));
    expect(advised(rows, { by: [B, C, MINE] }, { ...WAY, commitsWait }).yieldMs > 0).toBe(expected);
  });
});

interface Cost {
  readonly commits: number;
  /** Of each change. */
  readonly requests: number;
  readonly trips: number;
  readonly at?: (commit: number) => number;
  readonly id?: typeof ID;
}

/** Commits of one change each, by a process that meets others. */
const costs = ({ commits, requests, trips, at = (each) => (each * 7 * 16) % 256, id = ID }: Cost): Row[] =>
  Array.from({ length: commits }, (_, each): Row[] => [
    ...times(requests - 1, [0, { kind: 'read' }, id]),
    [0, { kind: 'look', foreignCommits: 1, ms: 0, wasSplit: false }, id],
    commit(at(each), trips * MS, 0, id),
  ]).flat();

/** Commits until a leaf is split whose changes take three requests and so many round trips each. */
function commitsUntilSplit(trips: number): number {
  let commits = 1;
  while (commits < 300 && advised(costs({ commits, requests: 3, trips })).splitInto === 0) commits += 1;
  return commits;
}

describe('split', () => {
  const DEAR = { commits: 200, requests: 9, trips: 9 };
  const nodes = [ID, ...Array.from({ length: 3 }, (_, node) => entityId(`node${node}`))];
  const lost: Told = [0, { kind: 'lost split' }];
  test.each<[string, Row[], Shown, number]>([
    ['a leaf of its own among writers is no bargain', costs({ commits: 500, requests: 2, trips: 2 }), {}, 0],
    ['a leaf whose callers share commits is none', costs({ commits: 500, requests: 1, trips: 1.6 }), {}, 0],
    ['a dear leaf', costs({ commits: 200, requests: 3, trips: 4 }), {}, 3],
    ['a dearer leaf is split into more', costs({ commits: 200, requests: 3, trips: 10 }), {}, 8],
    ['sixteen at most, and as many as there are positions', costs(DEAR), {}, 8],
    ['a leaf is not split for three commits', costs({ ...DEAR, commits: 3 }), {}, 0],
    ['a leaf of one busy record is not split', costs({ ...DEAR, at: () => 3 }), {}, 0],
    ['a leaf busy at one end is not split', costs({ ...DEAR, at: (each) => 240 + (each % 16) }), {}, 0],
    ['two records of one page', costs({ ...DEAR, at: (each) => each % 2 }), { pages: 1 }, 2],
    ['another leaf is not split', costs(DEAR), { id: OTHER }, 0],
    [
      'a leaf that others split is not split again',
      [...costs(DEAR), [0, { kind: 'look', foreignCommits: 1, ms: 0, wasSplit: true }]],
      {},
      0,
    ],
    ['a leaf that was split is not split again', [...costs(DEAR), [0, { kind: 'split', nodes }]], {}, 0],
    ['a leaf whose split was lost is not split at once', [...costs(DEAR), lost], {}, 0],
    ['it is split when it is dear again', [...costs(DEAR), lost, ...costs(DEAR)], {}, 8],
  ])('%s', (_, rows, what, expected) => {
    expect(advised(rows, what).splitInto).toBe(expected);
  });

  test('the dearer a leaf, the fewer commits are evidence enough', () => {
    const [dear, dearer, dearest] = [commitsUntilSplit(2), commitsUntilSplit(3), commitsUntilSplit(10)];
    expect(dearest).toBe(4);
    expect(dearer).toBeGreaterThan(dearest);
    expect(dear).toBeGreaterThan(dearer);
    expect(dear).toBeLessThan(200);
  });

  test('leaves with few commits are judged together, but a cheap one stays', () => {
    const leaves = (cost: Omit<Cost, 'commits'>): Row[] =>
      Array.from({ length: 20 }, (_, leaf) => costs({ ...cost, commits: 5, id: entityId(`like${leaf}`) })).flat();
    const dear = { requests: 3, trips: 3 };
    const own = costs({ ...dear, commits: 4 });
    expect(advised(own).splitInto).toBe(0);
    expect(advised([...leaves(dear), ...own]).splitInto).toBeGreaterThan(0);
    expect(advised([...leaves(dear), ...costs({ commits: 5, requests: 2, trips: 1 })]).splitInto).toBe(0);
  });

  test('commits that take no time, one long wait, and a process that meets nobody are no evidence', () => {
    const none = { ...WAY, commits: { roundTripMs: 0, meanRoundTripMs: 0 } };
    expect(advised(costs({ commits: 20, requests: 1, trips: 0 }), {}, none).splitInto).toBe(0);
    expect(advised([...costs({ commits: 40, requests: 2, trips: 2 }), commit(0, 3_600_000)]).splitInto).toBe(0);
    const alone = Array.from({ length: 500 }, (_, each): Row[] => [
      ...times(8, [0, { kind: 'read' }]),
      commit(each % 256, 9 * MS, 0),
    ]).flat();
    expect(advised(alone).splitInto).toBe(0);
  });

  test.each([
    [MS, true],
    [200, false],
  ])('where all commits stand in line, reads of %i ms tell what a round trip is: %s', (roundTripMs, expected) => {
    const way = { reads: { roundTripMs }, commits: { roundTripMs: 200, meanRoundTripMs: 200 }, commitsWait: true };
    expect(advised(costs({ commits: 40, requests: 3, trips: 40 }), {}, way).splitInto > 0).toBe(expected);
  });

  test.each([
    [0, 0, 0],
    [MS, 0, 5 * MS],
    [MS, 204_800, 5 * MS + 100],
    [500, 0, 1_000],
  ])(
    'with round trips of %i ms and pages of %i bytes others are asked to wait for %i ms',
    (ms, pageBytes, expected) => {
      const way = { ...WAY, commits: { roundTripMs: ms, meanRoundTripMs: ms } };
      expect(advised([], { pages: 1, pageBytes }, way).freezeMs).toBe(expected);
    },
  );
});

test('eight commits after a failure go alone', () => {
  expect(advised([]).isAlone).toBe(false);
  expect(advised([refused, ...times(7, commit())]).isAlone).toBe(true);
  expect(advised([refused, ...times(8, commit())]).isAlone).toBe(false);
});

test('a process remembers a bounded number of containers', () => {
  const { contention } = after(
    Array.from({ length: 10_100 }, (_, each): Told => [0, { kind: 'read' }, entityId(`${each}`)]),
  );
  expect(contention.containers.size).toBe(10_000);
});
