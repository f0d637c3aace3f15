// How long a process leaves a container to others: for a hold, and for its turn. Always for a bounded time.
import { beforeEach, expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { tagged } from '../../../shared/store/container/turn-order.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { Contention } from '../../../shared/store/io/contention.ts';
import { Courtesy } from '../../../shared/store/io/courtesy.ts';
import { entityId, hexId } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const ID = entityId('one');
const [MINE, B, C] = ['aaaa', 'bbbb', 'cccc'] as const;
const ROUND_TRIP_MS = 10;

let runtime: VirtualRuntime;
let contention: Contention;
let courtesy: Courtesy;

beforeEach(() => {
  runtime = new VirtualRuntime(2);
  contention = new Contention(runtime, {
    reads: { loneRoundTripMs: ROUND_TRIP_MS },
    writes: { loneRoundTripMs: ROUND_TRIP_MS },
  });
  courtesy = new Courtesy(runtime, contention, MINE);
});

/** The container after commits of these, the last of which asks for a hold. */
function after(tags: readonly string[], holdForMs = 0): Snapshot {
  const ids = tags.map((tag, index) => tagged(hexId(index.toString(16).padStart(16, '0')), tag));
  const header = {
    commitIds: Buffer.from(ids.join(''), 'hex'),
    commitCount: ids.length,
    holdForMs,
  } as unknown as Header;
  return { id: ID, header, lastCommit: ids.at(-1) } as Snapshot;
}

/** Many write the container: a commit every 5 ms, so two while one is under way. */
function makeBusy(): void {
  contention.noteRoundTrip(ROUND_TRIP_MS);
  for (let looks = 0; looks < 400; looks += 1) contention.noteLook(ID, 20, 100);
}

test('a hold is waited for in short steps, once, and no longer than was asked for', async () => {
  const held = after([B], 40);
  expect(courtesy.restMs(held)).toBe(10);
  await runtime.advance(35);
  expect(courtesy.restMs(held)).toBe(5);
  await runtime.advance(5);
  expect(courtesy.restMs(held)).toBe(0);
  await runtime.advance(1_000);
  expect(courtesy.restMs(held)).toBe(0);
});

test('another hold is waited for anew, and a commit without one ends it', async () => {
  expect(courtesy.restMs(after([B], 40))).toBe(10);
  expect(courtesy.restMs(after([B, C]))).toBe(0);
  await runtime.advance(100);
  expect(courtesy.restMs(after([B, C, B], 40))).toBe(10);
});

test('whatever a header asks for, a second is enough', async () => {
  const held = after([B], 3_600_000);
  expect(courtesy.restMs(held)).toBe(1_000);
  await runtime.advance(999);
  expect(courtesy.restMs(held)).toBe(1);
  await runtime.advance(1);
  expect(courtesy.restMs(held)).toBe(0);
});

test('an own hold is not waited for', () => {
  const held = after([MINE], 40);
  courtesy.noteOwnHold(ID, held.lastCommit);
  expect(courtesy.restMs(held)).toBe(0);
});

test('a split is given five round trips, and a second at most', () => {
  expect(courtesy.holdMs(0)).toBe(0);
  contention.noteRoundTrip(ROUND_TRIP_MS);
  expect(courtesy.holdMs(0)).toBe(5 * ROUND_TRIP_MS);
  // And what its bytes take.
  expect(courtesy.holdMs(204_800)).toBe(5 * ROUND_TRIP_MS + 100);
  for (let replies = 0; replies < 200; replies += 1) contention.noteRoundTrip(500);
  expect(courtesy.holdMs(0)).toBe(1_000);
});

test('who met nobody rests for nobody', () => {
  makeBusy();
  expect(courtesy.restMs(after([MINE, B, C, MINE]))).toBe(0);
});

test('who met another waits the longer the more others have waited longer', () => {
  makeBusy();
  courtesy.noteForeign(ID);
  const one = courtesy.restMs(after([B, MINE]));
  const two = courtesy.restMs(after([B, C, MINE]));
  expect(one).toBeGreaterThan(0);
  expect(two).toBeCloseTo(2 * one);
  // It is its turn.
  expect(courtesy.restMs(after([B, C, MINE, B, C]))).toBe(0);
});

test('a turn is over when its time is, and where nobody came there are no more turns', async () => {
  makeBusy();
  courtesy.noteForeign(ID);
  const shown = after([B, C, MINE]);
  const restMs = courtesy.restMs(shown);
  await runtime.advance(restMs / 2);
  expect(courtesy.restMs(shown)).toBeCloseTo(restMs / 2);
  await runtime.advance(restMs / 2);
  expect(courtesy.restMs(shown)).toBe(0);
  expect(courtesy.restMs(after([B, C, MINE, MINE]))).toBe(0);
  // Until one is met again.
  courtesy.noteForeign(ID);
  expect(courtesy.restMs(after([B, C, MINE, MINE, MINE]))).toBeGreaterThan(0);
});

test('however many wait, a turn comes within a second', () => {
  for (let replies = 0; replies < 200; replies += 1) contention.noteRoundTrip(500);
  for (let looks = 0; looks < 400; looks += 1) contention.noteLook(ID, 20, 100);
  courtesy.noteForeign(ID);
  const many = Array.from({ length: 30 }, (_, each) => (0xb000 + each).toString(16));
  expect(courtesy.restMs(after([...many, MINE]))).toBe(1_000);
});

test('eight own commits after the last of another there are no more turns', () => {
  makeBusy();
  courtesy.noteForeign(ID);
  const others: string[] = [B];
  const rests = Array.from({ length: 10 }, () => {
    others.push(MINE);
    const restMs = courtesy.restMs(after(others));
    courtesy.noteCommit(ID);
    return restMs > 0;
  });
  expect(rests).toEqual([...Array.from({ length: 8 }, () => true), false, false]);
});

test('where hardly anyone writes there are no turns', () => {
  contention.noteRoundTrip(ROUND_TRIP_MS);
  for (let looks = 0; looks < 400; looks += 1) contention.noteLook(ID, 0.1, 100);
  courtesy.noteForeign(ID);
  expect(courtesy.restMs(after([B, C, MINE]))).toBe(0);
});

test('who never had a turn tries at once, and again after one refusal; after more it waits, once each', () => {
  makeBusy();
  const tags: string[] = [B, C];
  const refuse = (): number => {
    courtesy.noteRefusal(ID);
    tags.push(B);
    return courtesy.restMs(after(tags));
  };
  courtesy.noteForeign(ID);
  expect(courtesy.restMs(after(tags))).toBe(0);
  expect(refuse()).toBe(0);
  for (const most of [4, 8, 8, 8]) {
    const restMs = refuse();
    expect(restMs).toBeGreaterThan(0);
    expect(restMs).toBeLessThanOrEqual(most * ROUND_TRIP_MS);
    tags.push(C);
    expect(courtesy.restMs(after(tags))).toBe(0);
  }
});

/** It is this process's turn, after so many commits. */
function turn(commits: number): Snapshot {
  return after([MINE, ...Array.from({ length: commits - 1 }, () => B)]);
}

test('of eight commits who has the turn leaves one to newcomers', () => {
  makeBusy();
  courtesy.noteForeign(ID);
  expect(courtesy.restMs(turn(7))).toBe(0);
  expect(courtesy.restMs(turn(8))).toBe(2 * ROUND_TRIP_MS);
  expect(courtesy.restMs(turn(9))).toBe(0);
  // But not who was refused already.
  courtesy.noteRefusal(ID);
  expect(courtesy.restMs(turn(16))).toBe(0);
});
