// A round: the simulation's clients on real processes before an emulator, mishaps, the verdict.
import { setTimeout as delay } from 'node:timers/promises';
import { type Action, ActionSource } from '../simulation/client-actions.ts';
import { Chance } from '../simulation/seeded-chance.ts';
import { Client } from '../simulation/history-client.ts';
import { play } from '../simulation/play-seed.ts';
import { Events } from '../simulation/events.ts';
import { Recorder } from '../simulation/recorder.ts';
import type { Scenario } from '../simulation/scenario.ts';
import type { Where } from './worker-lines.ts';
import { disturb } from './mishaps.ts';
import type { Place } from './emulator-place.ts';
import { FaultyProxy } from './proxy.ts';
import { WorkerProcess } from './worker-process.ts';

export interface Played {
  readonly complaints: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly lines: readonly string[];
}

/** A call that has no answer by then hangs: its own deadline is a tenth of that. */
const ROUND_MS_MAX = 240_000;
const CALL_TIMEOUT_MS = 6_000;
/** Vacuums, and scans between two pages, wait for no longer than this. */
const QUIET_MS_MAX = 500;
const PAUSE_MS_MAX = 50;

export async function playRound(place: Place, seed: number): Promise<Played> {
  const begunMs = performance.now();
  const events = new Events(true, () => performance.now() - begunMs);
  const recorder = new Recorder(events, () => performance.now() - begunMs);
  const chance = new Chance(seed, 11);
  const proxy = await FaultyProxy.before({ targetPort: place.port, chance: new Chance(seed, 12), events });
  const where: Where = {
    driver: place.driver,
    port: proxy.port,
    space: `faults${process.pid}x${Date.now()}`,
    entityBytesMax: chance.of([6_000, 9_000, 16_384]),
    cacheBytesMax: chance.is(0.3) ? 32 * 1024 : 1024 * 1024,
    timeoutMs: CALL_TIMEOUT_MS,
  };
  const scenario = scenarioOf(chance, seed);
  const round = new Round(scenario, where, events, recorder);
  const workers = round.start();
  try {
    const operations = (): number => recorder.operations;
    const disturbed = { chance: new Chance(seed, 13), place, proxy, workers, events, operations };
    await round.play(workers, (isOver) => disturb({ ...disturbed, isOver }));
    proxy.calm();
    place.calm();
    await round.lookAtTheEnd();
  } catch (error) {
    recorder.complain(`the round broke off: ${(error as Error).stack ?? String(error)}`);
  } finally {
    await Promise.all(workers.map((mortal) => mortal.close()));
    proxy.close();
    place.calm();
  }
  recorder.check();
  events.count('history', recorder.histories);
  events.count('operation', recorder.operations);
  events.count('round');
  return { complaints: recorder.complaints, counts: events.counts, lines: events.lines ?? [] };
}

class Round {
  readonly #scenario: Scenario;
  readonly #where: Where;
  readonly #events: Events;
  readonly #recorder: Recorder;
  #lastId = 0;

  constructor(scenario: Scenario, where: Where, events: Events, recorder: Recorder) {
    this.#scenario = scenario;
    this.#where = where;
    this.#events = events;
    this.#recorder = recorder;
  }

  start(): WorkerProcess[] {
    const ended = (what: string): void => this.#recorder.complain(what);
    return this.#scenario.skewsMs.map((_, index) => new WorkerProcess(index, this.#where, ended));
  }

  async play(
    workers: readonly WorkerProcess[],
    disturbing: (isOver: Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    const playing = Promise.all(
      this.#scenario.clients.map(({ process, actions }) =>
        play(this.#client(workers[process % workers.length]!), actions),
      ),
    );
    const hangs = delay(ROUND_MS_MAX, 'hangs', { ref: false });
    const [ended] = await Promise.all([Promise.race([playing, hangs]), disturbing(Promise.race([playing, hangs]))]);
    if (ended === 'hangs') throw new Error(`calls are still under way after ${ROUND_MS_MAX} ms`);
  }

  /** With all faults over, a new process reads all, before and after vacuums, and verifies. */
  async lookAtTheEnd(): Promise<void> {
    const calm: Where = { ...this.#where, timeoutMs: 60_000 };
    const last = new WorkerProcess(99, calm, (what) => this.#recorder.complain(what));
    try {
      const before = this.#errors();
      const read = new ActionSource(new Chance(0), rulesOf(this.#scenario.keyCount)).look(0);
      const rest = { gapMs: 0, timeoutMs: undefined };
      const scan: Action = { ...rest, kind: 'scan', limit: undefined, pauseMs: 0 };
      const vacuum: Action = { ...rest, kind: 'vacuum', quietMs: 0 };
      await play(this.#client(last), [...read, scan, vacuum, vacuum, ...read, scan]);
      if (this.#errors() > before) this.#recorder.complain('the look at the end met errors, with all faults over');
      const life = await last.awake();
      const { findings, ...report } = await life.verify();
      for (const { message, container } of findings)
        this.#recorder.complain(`verification of ${container}: ${message}`);
      this.#events.tell('END', JSON.stringify(report));
    } finally {
      await last.close();
    }
  }

  #errors(): number {
    return [...this.#events.counts].reduce((sum, [name, count]) => sum + (name.startsWith('answer ') ? count : 0), 0);
  }

  #client(process: Pick<WorkerProcess, 'awake'>): Client {
    return new Client({
      scenario: this.#scenario,
      process,
      scheduler: { after: (ms) => delay(ms) },
      recorder: this.#recorder,
      events: this.#events,
      nextId: () => (this.#lastId += 1),
      isRetired: () => false,
    });
  }
}

const PLAIN = { isLong: false, hasTtl: false, hasDrops: false, sleeps: [] };

function rulesOf(keyCount: number): ConstructorParameters<typeof ActionSource>[1] {
  return { ...PLAIN, keyCount, isScattered: false, isHot: false, isMerging: false };
}

/** Few keys that all want, or many. */
function scenarioOf(chance: Chance, seed: number): Scenario {
  const kind = chance.of(['plain', 'plain', 'isHot', 'isMerging', 'isMerging', 'isScattered'] as const);
  const keyCount = kind === 'isHot' ? 12 : chance.of([40, 120, 300]);
  const source = new ActionSource(chance, { ...rulesOf(keyCount), ...(kind === 'plain' ? {} : { [kind]: true }) });
  const processes = 3;
  const clients = Array.from({ length: 4 * processes }, (_, at) => ({
    process: at % processes,
    actions: source.draw(kind === 'isHot' ? 20 : 20 + chance.below(60)),
  }));
  if (kind !== 'isHot') clients[0]!.actions.unshift(...source.load(chance.of([150, 300])));
  if (kind === 'isMerging') clients[1]!.actions.push(...source.unload(), source.vacuum(0), source.vacuum(0));
  return {
    seed,
    order: chance.of(['hash', 'key'] as const),
    groupBy: undefined,
    containers: 1,
    compression: 'none',
    cacheBytesMax: 0,
    entityBytesMax: 0,
    chunksMax: 0,
    chunkBytes: 0,
    keyCount,
    prefixBytes: 0,
    latency: 'even',
    faults: {},
    skewsMs: Array.from({ length: processes }, () => 0),
    mishaps: [],
    clients: clients.map(({ process, actions }) => ({
      process,
      actions: actions.map(inTime),
    })),
  };
}

/** Nobody waits for a minute here: a scan may pause before each of 300 pages. */
function inTime(action: Action): Action {
  if (action.kind === 'scan') return { ...action, pauseMs: Math.min(action.pauseMs, PAUSE_MS_MAX) };
  return action.kind === 'vacuum' ? { ...action, quietMs: Math.min(action.quietMs, QUIET_MS_MAX) } : action;
}
