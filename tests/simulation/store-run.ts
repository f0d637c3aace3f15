// Plays a scenario to its end, then looks at everything without faults.
import { openStore, type Table } from '../../shared/store/index.ts';
import type { Value } from './caller.ts';
import { Client } from './history-client.ts';
import { play } from './play-seed.ts';
import { type Life, Process, START_WALL_MS, TIMEOUT_MS } from './process.ts';
import { hasDrops, keyName, type Scenario, TABLE } from './scenario.ts';
import { type Result, Stage } from './stage.ts';
import { orphansOf, storedRecords } from './structure.ts';

/** The other table's name is a prefix of it. A drop of that table must spare this one. */
const NEIGHBOUR = `${TABLE}2`;
/** Far more steps than any run takes. */
const STEPS_MAX = 300_000;
const HOUR_MS = 3_600_000;
/** No scenario has a process of this number. */
const LAST = 99;
/** Vacuums, one a day, until one merges nothing. */
const DAYS_MAX = 10;

export async function run(scenario: Scenario, isTraced = false): Promise<Result> {
  return new Run(scenario, isTraced).toEnd();
}

class Run extends Stage {
  readonly #scenario: Scenario;
  readonly #hasNeighbour: boolean;
  #lastId = 0;

  constructor(scenario: Scenario, isTraced: boolean) {
    super(scenario, isTraced);
    this.#scenario = scenario;
    this.#hasNeighbour = hasDrops(scenario);
  }

  async toEnd(): Promise<Result> {
    try {
      await this.#play();
      await this.#lookAtTheEnd();
      this.judge();
    } catch (error) {
      this.brokeOff(error);
    }
    return this.result();
  }

  async #play(): Promise<void> {
    const { clients, skewsMs } = this.#scenario;
    if (this.#hasNeighbour) await this.#fillNeighbour();
    const processes = skewsMs.map((_, index) => this.#process(index));
    const playing = clients.map(({ process, actions }) => play(this.#client(processes[process]!), actions));
    await this.scheduler.run(Promise.all(playing), STEPS_MAX);
    this.#countLives(processes);
    this.network.calm();
    // Background work ends: splits, sleepers, late requests.
    await this.scheduler.pass(24 * HOUR_MS);
  }

  #process(index: number): Process {
    const { compression, cacheBytesMax } = this.#scenario;
    const options = { compression, cacheBytesMax, timeoutMs: TIMEOUT_MS };
    return new Process(index, this.scheduler, this.#scenario, (life: Life) =>
      openStore({ ...options, driver: this.network.driverFor(life), runtime: life }),
    );
  }

  #client(process: Process): Client {
    const isRetired = (key: string, sinceMs: number): boolean =>
      (this.watch.merges.retiredSinceMs(TABLE, key) ?? Infinity) < START_WALL_MS + sinceMs;
    return new Client({
      scenario: this.#scenario,
      process,
      scheduler: this.scheduler,
      recorder: this.recorder,
      events: this.events,
      nextId: () => (this.#lastId += 1),
      isRetired,
    });
  }

  /** One record in the other table, before any fault. */
  async #fillNeighbour(): Promise<void> {
    this.network.isCalm = true;
    const { store } = this.#process(this.#scenario.skewsMs.length).life;
    const work = async (): Promise<void> => {
      const table = await store.table<number>(NEIGHBOUR, { containers: 3 });
      await table.put('k', 1);
    };
    await this.scheduler.run(work(), STEPS_MAX);
    this.network.isCalm = false;
  }

  #countLives(processes: readonly Process[]): void {
    for (const { lives } of processes) {
      this.events.count('process restarted', lives.length - 1);
      // Handles of one store share their table's counters, so one is enough.
      const stats = lives.flatMap(({ tables }) => tables.slice(0, 1).map((table) => table.stats()));
      for (const each of stats) this.countStats(each);
    }
  }

  /** A new process sees every record without faults, before a vacuum and after it. */
  async #lookAtTheEnd(): Promise<void> {
    const process = this.#process(this.#scenario.skewsMs.length + 1);
    const look = async (): Promise<void> => {
      const { store } = process.life;
      const table = await store.table<Value>(TABLE, { order: this.#scenario.order });
      for (const when of ['at the end', 'after the vacuum']) {
        await this.#readAll(process, table, when);
        await store.vacuum(TABLE, { timeoutMs: HOUR_MS, quietMs: 0 });
      }
      // Headers of merged leaves go a day later, once nothing more is merged.
      const last = this.#process(LAST).life.store;
      for (let days = 0, merged = 1; merged > 0 && days < DAYS_MAX; days += 1) {
        await this.scheduler.after(25 * HOUR_MS);
        ({ merged } = await last.vacuum(TABLE, { timeoutMs: HOUR_MS, quietMs: 0 }));
      }
      await this.#readAll(process, table, 'a day later');
      const items = this.#keys().map((key) => ({ key, value: { id: 'last', padding: '' } }));
      for (const outcome of await table.putMany(items))
        if (outcome.status === 'failed')
          this.complain(`at last ${outcome.key} cannot be written: ${String(outcome.error)}`);
      for (const { message, container } of (await last.verify(TABLE)).findings)
        this.complain(`verification of ${container}: ${message}`);
      if (this.#hasNeighbour && (await (await store.table(NEIGHBOUR)).get('k')) === undefined)
        this.complain('the table beside lost its record');
    };
    await this.scheduler.run(look(), STEPS_MAX);
    for (const orphan of orphansOf(this.provider, TABLE)) this.complain(`${orphan} is an orphan that vacuum left`);
  }

  #keys(): string[] {
    return Array.from({ length: this.#scenario.keyCount }, (_, key) => keyName(this.#scenario, key));
  }

  async #readAll(process: Process, table: Table<Value>, when: string): Promise<void> {
    const client = this.#client(process);
    const call = this.recorder.begin(process.life);
    const got = await table.getMany(this.#keys());
    for (const outcome of got) {
      if (outcome.status === 'failed') this.complain(`${when} ${outcome.key} cannot be read: ${String(outcome.error)}`);
      else client.reads(outcome.key, `get ${when}`, call, outcome.status === 'found' ? outcome : undefined);
    }
    const scanned = await Array.fromAsync(table.scan(), ({ key, version }) => `${key} ${version}`);
    const nowMs = process.life.wallMs();
    const stored = storedRecords(this.provider, TABLE)
      .filter(({ record }) => record.expiresAtMs === undefined || record.expiresAtMs > nowMs)
      .map(({ name }) => name);
    const found = got.flatMap((outcome) => (outcome.status === 'found' ? [`${outcome.key} ${outcome.version}`] : []));
    if (scanned.join() !== stored.join()) this.complain(`${when} a scan differs from what is stored`);
    if (scanned.toSorted().join() !== found.toSorted().join()) this.complain(`${when} a scan differs from the gets`);
  }
}
