// How busy containers are: rates from commit counts, and what follows from them.
import { expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { ContainerTraffic } from '../../../shared/store/traffic/container-traffic.ts';
import { Traffic } from '../../../shared/store/traffic/traffic.ts';
import { entityId } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const [ID, OTHER] = [entityId('one'), entityId('other')];
const ROUND_TRIP_MS = 10;

class Watched {
  readonly runtime = new VirtualRuntime();
  busyShare = 0;
  readonly ways = {
    commitsWait: true,
    reads: { loneRoundTripMs: ROUND_TRIP_MS, roundTripMs: ROUND_TRIP_MS },
    writes: { loneRoundTripMs: ROUND_TRIP_MS, roundTripMs: ROUND_TRIP_MS },
  };
  readonly traffic = new Traffic(
    {
      monotonicMs: () => this.runtime.monotonicMs(),
      busyShare: () => this.busyShare,
      random: (bytes) => this.runtime.random(bytes),
    },
    this.ways,
    'aaaa',
  );

  constructor(roundTripMs = ROUND_TRIP_MS) {
    this.traffic.noteRoundTrip(roundTripMs, []);
  }

  /** Lets `ms` pass, with a look each 100 ms that shows so many foreign commits. */
  async look(id: typeof ID, foreignEach: number, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.runtime.advance(100);
      this.traffic.noteLook(id, { foreignCommits: foreignEach, ms: 100, wasSplit: false });
    }
  }

  /** A look shows that others split the container. */
  split(): void {
    this.traffic.noteLook(ID, { foreignCommits: 1, ms: 100, wasSplit: true });
  }

  /** Lets `ms` pass, with so many calls each 100 ms. */
  async call(id: typeof ID, callsEach: number, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.runtime.advance(100);
      for (let calls = 0; calls < callsEach; calls += 1) this.traffic.noteCall(id);
    }
  }

  /** Nodes that a leaf of so many bytes should be split among. */
  nodes(sealedBytes = 0, id = ID): number {
    const pages = [{ sealedBytes, records: 1_000, chunksMost: 1 }];
    return this.traffic.nodesFor({ id, header: { level: 0, pages } } as unknown as Snapshot);
  }

  /** Whether what was seen of the container so long ago is probably out of date. */
  isStaleAfter(id: typeof ID, ageMs: number): boolean {
    const seen = { tick: 1, wallMs: 0, monotonicMs: this.runtime.monotonicMs() - ageMs };
    return this.traffic.isReadDue({ id, seen } as Snapshot);
  }
}

/** Has seen, for 20 s, `looks` foreign commits and `calls` of its own each 100 ms. */
async function watching({ looks, calls = 0 }: { looks?: number; calls?: number }): Promise<Watched> {
  const watched = new Watched();
  if (calls > 0) await watched.call(ID, calls, 20_000);
  if (looks !== undefined) await watched.look(ID, looks, 20_000);
  return watched;
}

test('a snapshot is probably out of date once others have had the time to write', async () => {
  // 10 commits a second: one in five is met within some 20 ms.
  const watched = await watching({ looks: 1 });
  expect(watched.isStaleAfter(ID, 5)).toBe(false);
  expect(watched.isStaleAfter(ID, 50)).toBe(true);
});

test('where nobody else writes no snapshot is out of date, however old', async () => {
  const watched = await watching({ looks: 0 });
  expect(watched.isStaleAfter(ID, 3_600_000)).toBe(false);
});

test('what was seen counts less the longer ago it was', async () => {
  const watched = await watching({ looks: 1 });
  await watched.look(ID, 0, 60_000);
  expect(watched.isStaleAfter(ID, 50)).toBe(false);
});

test('many commits between two looks far apart are no rush now', async () => {
  const watched = new Watched();
  await watched.runtime.advance(3_600_000);
  watched.traffic.noteLook(ID, { foreignCommits: 1_000, ms: 3_600_000, wasSplit: false });
  expect(watched.isStaleAfter(ID, 50)).toBe(false);
  expect(watched.nodes()).toBe(0);
});

test('a look that is older than the one before says nothing', () => {
  const watched = new Watched();
  watched.traffic.noteLook(ID, { foreignCommits: 1_000, ms: -5, wasSplit: false });
  watched.traffic.noteLook(ID, { foreignCommits: 1_000, ms: 0, wasSplit: false });
  expect(watched.isStaleAfter(ID, 5_000)).toBe(false);
});

test('where a commit is worth a look before, a check is not worth its request', async () => {
  const watched = await watching({ looks: 1 });
  const at = (ageMs: number): boolean => {
    const seen = { tick: 1, wallMs: 0, monotonicMs: watched.runtime.monotonicMs() - ageMs };
    return watched.traffic.isProbablyStale({ id: ID, seen } as Snapshot);
  };
  expect([watched.isStaleAfter(ID, 10), at(10)]).toEqual([false, false]);
  expect([watched.isStaleAfter(ID, 60), at(60)]).toEqual([true, true]);
});

test('commits are counted whoever makes them', () => {
  const container = new ContainerTraffic(0);
  for (let looks = 0; looks < 200; looks += 1) container.noteLook({ foreignCommits: 1, ms: 100, wasSplit: false }, 0);
  const foreign = container.commitsPerMs;
  for (let nowMs = 100; nowMs <= 20_000; nowMs += 100) container.noteCommit(nowMs);
  expect(foreign).toBeGreaterThan(0.008);
  expect(container.commitsPerMs).toBeGreaterThan(1.8 * foreign);
});

test('of a container that others split, and after a split that failed, evidence is gathered anew', async () => {
  const watched = new Watched();
  for (const forget of [() => watched.split(), () => watched.traffic.noteLostSplit(ID)]) {
    await watched.look(ID, 2, 20_000);
    expect(watched.nodes()).toBeGreaterThan(0);
    forget();
    expect(watched.nodes()).toBe(0);
  }
});

test('after a split that failed the next waits for a second, and for twice as long after each that fails again', async () => {
  const watched = await watching({ looks: 100 });
  const untilNext = async (): Promise<number> => {
    const begunMs = watched.runtime.monotonicMs();
    while (watched.nodes() === 0) await watched.look(ID, 100, 100);
    return watched.runtime.monotonicMs() - begunMs;
  };
  // The evidence alone is gathered sooner.
  watched.split();
  expect(await untilNext()).toBeLessThan(1_000);
  const rests: number[] = [];
  for (let lost = 0; lost < 4; lost += 1) {
    watched.traffic.noteLostSplit(ID);
    rests.push(await untilNext());
  }
  expect(rests).toEqual([1_000, 2_000, 4_000, 8_000]);
});

test('a container that is not known yet is taken for one like the others', async () => {
  const watched = await watching({ looks: 1 });
  expect(watched.isStaleAfter(OTHER, 50)).toBe(true);
  // Until it is known.
  await watched.look(OTHER, 0, 10_000);
  expect(watched.isStaleAfter(OTHER, 50)).toBe(false);
});

test('others that write often split a container, into the more parts the more often they do, unless it is large', async () => {
  expect((await watching({ looks: 0.5 })).nodes()).toBe(0);
  // 20 a second meet 0.2 commits under way: 6 parts would meet 0.035 each.
  const often = await watching({ looks: 2 });
  expect([often.nodes(), often.nodes(700_000)]).toEqual([6, 0]);
  await often.look(ID, 10, 20_000);
  expect(often.nodes(700_000)).toBeGreaterThan(0);
  expect((await watching({ looks: 100 })).nodes()).toBe(16);
});

test('what meets in a container grows with the round trip; a commit that hung, or slept over, is none', async () => {
  const calm = await watching({ looks: 0.1 });
  calm.traffic.noteRoundTrip(3_600_000, []);
  expect(calm.nodes()).toBe(0);
  const watched = await watching({ looks: 0.5 });
  expect(watched.nodes()).toBe(0);
  for (let replies = 0; replies < 100; replies += 1) watched.traffic.noteRoundTrip(50, []);
  expect(watched.nodes()).toBeGreaterThan(0);
});

test('where commits stand in line few are made, and many meet: two long ones in a row show it, one does not', async () => {
  const watched = new Watched();
  await watched.look(ID, 0.4, 1_000);
  expect(watched.nodes(100_000)).toBe(0);
  watched.traffic.noteRoundTrip(300, [ID]);
  expect(watched.nodes(100_000)).toBe(0);
  watched.traffic.noteRoundTrip(300, [ID]);
  expect(watched.nodes(100_000)).toBeGreaterThan(4);
  watched.split();
  await watched.look(ID, 0.4, 1_000);
  expect(watched.nodes(100_000)).toBe(0);
});

test('who was refused after a line splits at once, while that is fresh', async () => {
  const watched = new Watched();
  const refusedAfter = (ms: number): number => {
    watched.traffic.noteRoundTrip(ms, [ID]);
    watched.traffic.noteFailure(ID, true);
    return watched.nodes(600_000);
  };
  watched.traffic.noteRoundTrip(100, [ID]);
  expect(watched.nodes(600_000)).toBe(0);
  expect(refusedAfter(ROUND_TRIP_MS)).toBe(0);
  expect(refusedAfter(100)).toBe(16);
  await watched.runtime.advance(5_000);
  expect(watched.nodes(600_000)).toBe(0);
  expect(refusedAfter(100)).toBe(16);
  watched.traffic.noteCommit(ID);
  expect(watched.nodes(600_000)).toBe(0);
});

test('where the provider refuses at once a slow commit stood in no line', () => {
  const watched = new Watched();
  watched.ways.commitsWait = false;
  watched.traffic.noteRoundTrip(100, [ID]);
  watched.traffic.noteFailure(ID, true);
  expect(watched.nodes()).toBe(0);
});

test('where all commits stood in line the time of reads shows it', () => {
  const watched = new Watched(200);
  const refuse = (): void => {
    watched.traffic.noteRoundTrip(200, [ID]);
    watched.traffic.noteFailure(ID, true);
  };
  refuse();
  expect(watched.nodes()).toBe(16);
  watched.ways.reads.roundTripMs = 200;
  expect(watched.nodes()).toBe(0);
});

test('calls of its own split a container too, if the process has time for a commit each: less where several share one', async () => {
  const watched = await watching({ calls: 2 });
  expect(watched.nodes()).toBeGreaterThan(0);
  watched.busyShare = 0.9;
  expect(watched.nodes()).toBe(0);
  for (let commits = 0; commits < 100; commits += 1) watched.traffic.noteCommit(ID);
  for (const [share, splits] of [
    [0.3, false],
    [0.2, true],
  ] as const) {
    watched.busyShare = share;
    expect(watched.nodes() > 0).toBe(splits);
  }
  // Others' commits count as ever: they are refused conditions, not work that is shared.
  watched.busyShare = 0.9;
  await watched.look(ID, 2, 20_000);
  expect(watched.nodes()).toBeGreaterThan(0);
});

test('calls of its own split a container within half a second, and not at once', async () => {
  const watched = new Watched();
  await watched.call(ID, 20, 200);
  expect(watched.nodes()).toBe(0);
  await watched.call(ID, 20, 300);
  expect(watched.nodes()).toBeGreaterThan(0);
});

test('where the provider is near own calls split nothing, and others’ commits do', async () => {
  const watched = new Watched();
  watched.ways.writes.loneRoundTripMs = 2;
  await watched.call(ID, 2, 20_000);
  expect(watched.nodes()).toBe(0);
  await watched.look(ID, 2, 20_000);
  expect(watched.nodes()).toBeGreaterThan(0);
});

test('checks share requests while the process is busy, and where the provider is near, unless a reply seems lost', async () => {
  const watched = new Watched();
  const shares = (): boolean => watched.traffic.sharesChecks(0);
  expect(shares()).toBe(false);
  watched.busyShare = 0.9;
  expect(shares()).toBe(true);
  watched.busyShare = 0;
  watched.ways.reads.loneRoundTripMs = 2;
  expect(shares()).toBe(true);
  await watched.runtime.advance(1_000);
  expect(shares()).toBe(false);
});

test('a split hands on to each part an equal share', async () => {
  const watched = await watching({ looks: 2, calls: 2 });
  const nodes = Array.from({ length: 16 }, (_, node) => entityId(`node${node}`));
  watched.traffic.noteSplit(ID, [ID, ...nodes]);
  expect(watched.nodes()).toBe(0);
  expect(watched.nodes(0, nodes[3])).toBe(0);
  expect(watched.isStaleAfter(nodes[3]!, 5)).toBe(false);
  expect(watched.isStaleAfter(nodes[3]!, 5_000)).toBe(true);
});

test('who commits in a row looks at times whether others wait, and as long as they do', async () => {
  const watched = new Watched();
  const commitAndAsk = async (): Promise<boolean> => {
    await watched.runtime.advance(ROUND_TRIP_MS);
    watched.traffic.noteCommit(ID);
    return watched.isStaleAfter(ID, ROUND_TRIP_MS);
  };
  await watched.look(ID, 0, 20_000);
  for (let commits = 0; commits < 64; commits += 1) expect(await commitAndAsk()).toBe(false);
  // Others wrote once, long ago.
  watched.traffic.noteLook(ID, { foreignCommits: 1, ms: 3_600_000, wasSplit: false });
  for (let looks = 0; looks < 8; looks += 1)
    watched.traffic.noteLook(ID, { foreignCommits: 0, ms: ROUND_TRIP_MS, wasSplit: false });
  const asked: boolean[] = [];
  for (let commits = 0; commits < 32; commits += 1) asked.push(await commitAndAsk());
  expect(asked.indexOf(true)).toBe(31);
  // The look met another's commit: the next ones are due as well, until some met none.
  watched.traffic.noteLook(ID, { foreignCommits: 1, ms: ROUND_TRIP_MS, wasSplit: false });
  for (let looks = 0; looks < 8; looks += 1) {
    expect(await commitAndAsk()).toBe(true);
    watched.traffic.noteLook(ID, { foreignCommits: 0, ms: ROUND_TRIP_MS, wasSplit: false });
  }
  expect(await commitAndAsk()).toBe(false);
  // Commits with pauses between them leave others their chance.
  watched.traffic.noteLook(ID, { foreignCommits: 1, ms: ROUND_TRIP_MS, wasSplit: false });
  await commitAndAsk();
  expect(watched.isStaleAfter(ID, 3 * ROUND_TRIP_MS)).toBe(false);
});
