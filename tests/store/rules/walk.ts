// One random history, fixed by its seed, and what it found amiss.
import type { MemoryFault } from '../../../shared/drivers/memory.ts';
import { type Entry, StoreError, type Table } from '../../../shared/store/index.ts';
import { quiet, randomSource } from '../../support/virtual-runtime.ts';
import { type Effect, IMPOSSIBLE, isLinearizable, type Operation, type State } from './history.ts';
import { key, type Process, TINY, World } from './world.ts';

interface Value {
  readonly id: string;
  /** The state that an update saw. */
  readonly before: State;
  readonly padding: string;
}

const KEYS = 30;
const OPERATIONS_OF_A_CLIENT = 16;
const CLIENTS_OF_A_PROCESS = 3;

export interface WalkResult {
  readonly world: World;
  readonly complaints: readonly string[];
  readonly unknownCount: number;
}

export async function walk(seed: number): Promise<WalkResult> {
  const walker = new Walker(seed);
  return walker.run();
}

class Walker {
  readonly #world: World;
  readonly #draw: () => number;
  readonly #order: 'hash' | 'key';
  readonly #histories = new Map<string, Operation[]>();
  readonly #idOfVersion = new Map<string, string>();
  readonly #complaints: string[] = [];
  readonly #faultRate: number;
  readonly #late = new Set<() => void>();
  #moment = 0;
  #nextId = 0;
  #unknownCount = 0;
  #isCalm = false;

  constructor(seed: number) {
    this.#draw = randomSource(seed * 7_919);
    const entityBytesMax = 3_000 + this.#below(4) * 1_000;
    this.#world = new World({ seed, limits: { ...TINY, entityBytesMax } });
    this.#order = this.#below(2) === 0 ? 'hash' : 'key';
    this.#faultRate = [0, 0.1, 0.2, 0.4][this.#below(4)]!;
  }

  async run(): Promise<WalkResult> {
    const world = this.#world;
    const processes = Array.from({ length: 2 + this.#below(2) }, () => this.#process());
    const tables = await world.run(
      Promise.all(processes.map(({ store }) => store.table<Value>('t', { order: this.#order }).catch(() => undefined))),
    );
    const clients = tables.flatMap((table) =>
      table === undefined ? [] : Array.from({ length: CLIENTS_OF_A_PROCESS }, () => this.#client(table)),
    );
    await world.run(Promise.all([...clients, ...processes.map((process) => this.#vacuums(process))]));
    this.#isCalm = true;
    for (const deliver of this.#late) deliver();
    this.#late.clear();
    // What calls have left behind, a split that nobody waits for, comes to its end.
    await world.runtime.advance(60_000);
    await this.#lookAtTheEnd();
    await world.close();
    return { world, complaints: this.#complaints, unknownCount: this.#unknownCount };
  }

  #below(count: number): number {
    return Math.floor(this.#draw() * count);
  }

  #process(): Process {
    const process = this.#world.process({ timeoutMs: 20_000 });
    process.rule(() => this.#fault());
    return process;
  }

  /** Every request takes a while, before and after its effect; some go wrong. */
  async #fault(): Promise<MemoryFault | undefined> {
    if (this.#isCalm) return undefined;
    const { runtime } = this.#world;
    await runtime.sleep(this.#below(20));
    const reply = runtime.sleep(this.#below(100) === 0 ? this.#below(4_000) : this.#below(20));
    if (this.#draw() >= this.#faultRate) return { reply };
    const late = (deliver: () => void): void => void this.#deliverLater(deliver);
    const faults: MemoryFault[] = [
      { reply, replyLost: true },
      { reply, fail: 'throttled' },
      { reply, fail: 'unavailable' },
      { reply, late },
      { reply, again: late },
    ];
    return faults[this.#below(faults.length)];
  }

  async #deliverLater(deliver: () => void): Promise<void> {
    this.#late.add(deliver);
    await this.#world.runtime.sleep(this.#below(3_000));
    if (this.#late.delete(deliver)) deliver();
  }

  async #vacuums({ store }: Process): Promise<void> {
    for (let count = this.#below(3); count > 0; count -= 1) {
      await this.#world.runtime.sleep(this.#below(2_000));
      await store.vacuum('t').catch((error: unknown) => this.#expected(error));
    }
  }

  async #client(table: Table<Value>): Promise<void> {
    const seen = new Map<string, Entry<Value>>();
    for (let count = 0; count < OPERATIONS_OF_A_CLIENT; count += 1) {
      await this.#world.runtime.sleep(this.#below(60));
      const name = key(this.#draw() < 0.3 ? this.#below(3) : this.#below(KEYS));
      if (this.#historyOf(name).length < 28) await this.#operation(table, name, seen);
    }
  }

  async #operation(table: Table<Value>, name: string, seen: Map<string, Entry<Value>>): Promise<void> {
    const id = `w${(this.#nextId += 1)}`;
    const value = (before: State): Value => ({ id, before, padding: '.'.repeat(this.#below(400)) });
    const options = this.#below(6) === 0 ? { timeoutMs: 1 + this.#below(400) } : {};
    switch (this.#below(8)) {
      case 0:
      case 1:
        return this.#record(name, 'get', async () => {
          const entry = await table.get(name, options);
          if (entry !== undefined) seen.set(name, entry);
          return this.#shows(name, entry);
        });
      case 2:
        return this.#record(
          name,
          `putIfAbsent ${id}`,
          async () => {
            const { version } = await table.put(name, value(undefined), { ...options, ifAbsent: true });
            this.#remember(name, version, id);
            return (state) => (state === undefined ? id : IMPOSSIBLE);
          },
          (state) => state ?? id,
          (state) => (state === undefined ? IMPOSSIBLE : state),
        );
      case 3: {
        const base = seen.get(name);
        if (base === undefined) return;
        const held = base.value.id;
        return this.#record(
          name,
          `putIfVersion ${held} -> ${id}`,
          async () => {
            const { version } = await table.put(name, value(undefined), { ...options, ifVersion: base.version });
            this.#remember(name, version, id);
            return (state) => (state === held ? id : IMPOSSIBLE);
          },
          (state) => (state === held ? id : state),
          (state) => (state === held ? IMPOSSIBLE : state),
        );
      }
      case 4:
        return this.#record(
          name,
          `update ${id}`,
          async () => {
            const entry = await table.update(name, (current) => value(current?.value.id), options);
            this.#remember(name, entry!.version, id);
            const { before } = entry!.value;
            return (state) => (state === before ? id : IMPOSSIBLE);
          },
          () => id,
        );
      case 5:
        return this.#record(
          name,
          `delete ${id}`,
          async () => {
            const { deleted } = await table.delete(name, options);
            return (state) => ((state !== undefined) === deleted ? undefined : IMPOSSIBLE);
          },
          () => undefined,
        );
      default:
        return this.#record(
          name,
          `put ${id}`,
          async () => {
            const { version } = await table.put(name, value(undefined), options);
            this.#remember(name, version, id);
            return () => id;
          },
          () => id,
        );
    }
  }

  /** Runs an operation and adds it to its record's history: as answered, as a conflict, or as one whose fate is not known. */
  async #record(
    name: string,
    what: string,
    operate: () => Promise<Effect>,
    maybe?: Effect,
    conflict?: Effect,
  ): Promise<void> {
    const calledAt = (this.#moment += 1);
    const add = (effect: Effect, isKnown: boolean, how: string): void => {
      const answeredAt = isKnown ? (this.#moment += 1) : Infinity;
      this.#historyOf(name).push({ name: `${what} ${how}`, calledAt, answeredAt, effect });
    };
    try {
      add(await operate(), true, 'done');
    } catch (error) {
      this.#expected(error);
      const code = error instanceof StoreError ? error.code : '';
      if (code === 'conflict' && conflict !== undefined) add(conflict, true, 'conflict');
      else if (code === 'conflict') this.#complaints.push(`${what} of ${name} met a conflict without a condition`);
      if (code === 'unknown') {
        this.#unknownCount += 1;
        if (maybe === undefined) this.#complaints.push(`${what} of ${name} answered unknown`);
        else add(maybe, false, 'unknown');
      }
    }
  }

  #historyOf(name: string): Operation[] {
    let history = this.#histories.get(name);
    if (history === undefined) this.#histories.set(name, (history = []));
    return history;
  }

  #shows(name: string, entry: Entry<Value> | undefined): Effect {
    if (entry !== undefined) this.#remember(name, entry.version, entry.value.id);
    return (state) => (state === entry?.value.id ? state : IMPOSSIBLE);
  }

  /** A version stands for one write of its key, for ever. */
  #remember(name: string, version: string, id: string): void {
    const known = this.#idOfVersion.get(`${name} ${version}`);
    if (known !== undefined && known !== id)
      this.#complaints.push(`version ${version} of ${name} is of ${known} and of ${id}`);
    this.#idOfVersion.set(`${name} ${version}`, id);
  }

  #expected(error: unknown): void {
    const isExpected =
      error instanceof StoreError &&
      ['unknown', 'aborted', 'unavailable', 'throttled', 'conflict'].includes(error.code);
    const isBug = error instanceof StoreError && error.message.includes('unexpected');
    if (!isExpected || isBug)
      this.#complaints.push(`unexpected: ${String(error)} ${(error as Error).stack} ${String((error as Error).cause)}`);
  }

  /** With all faults over, a new process looks at everything, twice: once vacuum ran, nothing may have changed. */
  async #lookAtTheEnd(): Promise<void> {
    const { store } = this.#world.process();
    const table = await this.#world.run(store.table<Value>('t', { order: this.#order }));
    const names = Array.from({ length: KEYS }, (_, number) => key(number));
    for (const when of ['at the end', 'after the vacuum']) {
      for (const name of names)
        await this.#world.run(this.#record(name, `get ${when}`, async () => this.#shows(name, await table.get(name))));
      const scanned = await this.#world.run(collect(table));
      const got = await this.#world.run(table.getMany(names));
      const found = got.flatMap((outcome) => (outcome.status === 'found' ? [`${outcome.key} ${outcome.version}`] : []));
      if (scanned.toSorted().join() !== found.join())
        this.#complaints.push(`${when} the scan shows ${scanned.length} records, the gets ${found.length}`);
      await this.#world.run(store.vacuum('t'));
    }
    await quiet();
    for (const [name, operations] of this.#histories) {
      if (isLinearizable(operations)) continue;
      const told = operations.map((each) => `  ${each.calledAt}..${each.answeredAt} ${each.name}`).join('\n');
      this.#complaints.push(`no order explains ${name}:\n${told}`);
    }
  }
}

async function collect(table: Table<Value>): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of table.scan()) found.push(`${entry.key} ${entry.version}`);
  return found;
}
