// How busy containers are: rates from commit counts, and what follows from them.
import { expect, test } from 'vitest';
import type { Change } from '../../../shared/store/container/change.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import { ContainerTraffic } from '../../../shared/store/traffic/container-traffic.ts';
import { Sharing } from '../../../shared/store/traffic/sharing.ts';
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

  /** Commits of one change each, which took so many requests and round trips. */
  commit(id: typeof ID, { commits, requests, trips }: { commits: number; requests: number; trips: number }): void {
    for (let commit = 0; commit < commits; commit += 1) {
      for (let request = 0; request < requests; request += 1) this.traffic.noteRequest(id);
      const queuedMs = this.runtime.monotonicMs() - trips * ROUND_TRIP_MS;
      this.traffic.noteCommit(id, [{ queuedMs, position: Uint8Array.of(commit) } as Change]);
    }
  }

  /** Nodes that a leaf should be split among. */
  nodes(id = ID): number {
    const pages = [{ low: new Uint8Array(), sealedBytes: 100, records: 1_000, chunksMost: 1 }];
    return this.traffic.nodesFor({ id, header: { level: 0, pages, layers: [] } } as unknown as Snapshot);
  }

  /** Whether what was seen of the container so long ago is probably out of date. */
  isStaleAfter(id: typeof ID, ageMs: number): boolean {
    const seen = { tick: 1, wallMs: 0, monotonicMs: this.runtime.monotonicMs() - ageMs };
    return this.traffic.isReadDue({ id, seen } as Snapshot);
  }
}

/** Has seen, for 20 s, so many foreign commits each 100 ms. */
async function watching({ looks }: { looks: number }): Promise<Watched> {
  const watched = new Watched();
  await watched.look(ID, looks, 20_000);
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
  for (let nowMs = 100; nowMs <= 20_000; nowMs += 100)
    container.noteCommit([], { nowMs, roundTripMs: ROUND_TRIP_MS, seldom: new Sharing() });
  expect(foreign).toBeGreaterThan(0.008);
  expect(container.commitsPerMs).toBeGreaterThan(1.8 * foreign);
});

test('a container that is not known yet is taken for one like the others', async () => {
  const watched = await watching({ looks: 1 });
  expect(watched.isStaleAfter(OTHER, 50)).toBe(true);
  // Until it is known.
  await watched.look(OTHER, 0, 10_000);
  expect(watched.isStaleAfter(OTHER, 50)).toBe(false);
});

const DEAR = { commits: 100, requests: 4, trips: 4 };

/** Others write, and what this process shares with them is dear. */
async function dear(): Promise<Watched> {
  const watched = await watching({ looks: 2 });
  watched.commit(ID, DEAR);
  return watched;
}

test('a leaf that others split, and one whose split failed, is split only by what is seen of it afterwards', async () => {
  const watched = await dear();
  for (const forget of [() => watched.split(), () => watched.traffic.noteLostSplit(ID)]) {
    expect(watched.nodes()).toBeGreaterThan(0);
    forget();
    expect(watched.nodes()).toBe(0);
    await watched.look(ID, 2, 20_000);
    watched.commit(ID, DEAR);
  }
});

test('after a split that failed the next waits for a second, and for twice as long after each that fails again', async () => {
  const watched = await dear();
  const waits: number[] = [];
  for (let lost = 0; lost < 4; lost += 1) {
    watched.traffic.noteLostSplit(ID);
    const begunMs = watched.runtime.monotonicMs();
    do {
      await watched.look(ID, 2, 100);
      watched.commit(ID, DEAR);
    } while (watched.nodes() === 0);
    waits.push(watched.runtime.monotonicMs() - begunMs);
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
});

/** All commits take 200 ms. */
function nodesWhereReadsTake(ms: number): number {
  const watched = new Watched(200);
  watched.ways.reads.roundTripMs = ms;
  watched.traffic.noteFailure(ID, true);
  watched.commit(ID, { commits: 40, requests: 2, trips: 20 });
  return watched.nodes();
}

test('where all commits stand in line, the round trips that a change waits are counted by those of reads', () => {
  expect(nodesWhereReadsTake(ROUND_TRIP_MS)).toBeGreaterThan(0);
  expect(nodesWhereReadsTake(200)).toBe(0);
});

test('the parts of a leaf that was split are known to be busy, and are split by their own costs alone', async () => {
  const watched = await dear();
  const nodes = Array.from({ length: 16 }, (_, node) => entityId(`node${node}`));
  watched.traffic.noteSplit(ID, [ID, ...nodes]);
  expect([watched.nodes(), watched.nodes(nodes[3])]).toEqual([0, 0]);
  expect(watched.isStaleAfter(nodes[3]!, 5)).toBe(false);
  expect(watched.isStaleAfter(nodes[3]!, 5_000)).toBe(true);
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

test('who commits in a row looks at times whether others wait, and as long as they do', async () => {
  const watched = new Watched();
  const commitAndAsk = async (): Promise<boolean> => {
    await watched.runtime.advance(ROUND_TRIP_MS);
    watched.traffic.noteCommit(ID, []);
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
