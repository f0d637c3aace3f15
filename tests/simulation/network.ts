// The network decides when a request arrives, whether it takes effect, and when it is answered.
import { memoryDriver, type MemoryFault, type MemoryState } from '../../shared/drivers/memory.ts';
import {
  type Driver,
  type DriverCallOptions,
  type Entity,
  type ReadRequest,
  type Refused,
  SILENCE_MS,
} from '../../shared/store/contract/driver.ts';
import { Chance } from './chance.ts';
import { stateOf } from './decode.ts';
import type { Events } from './events.ts';
import { partName } from '../support/ids.ts';
import { mergeStepOf, nodeAt } from './merge-step.ts';
import type { Life } from './process.ts';
import type { MergeStep, Mishap } from './mishap.ts';
import type { Fault, Latency, Scenario } from './scenario.ts';
import type { Scheduler } from '../../shared/lab/kit/scheduler.ts';

const HOUR_MS = 3_600_000;

export interface NetworkOptions {
  readonly scenario: Scenario;
  readonly state: MemoryState;
  readonly scheduler: Scheduler;
  readonly events: Events;
  /** Called when a process stopped in the midst of a merge. */
  readonly stopped?: () => void;
  /** Called with every entity that a request may change in this step. */
  readonly touch: (ids: readonly string[]) => void;
}

/** A request as the network sees it. */
interface Request {
  readonly name: string;
  readonly kind: 'read' | 'list' | 'insert' | 'change' | 'remove';
  /** Entities it may change. */
  readonly ids: readonly string[];
  readonly timeoutMs: number;
  /** The step of a merge that a write does. */
  readonly step?: MergeStep | undefined;
}

/** The fate of a request: a fault for the memory driver on arrival, or a refusal. */
type Fate = { readonly fault: Promise<MemoryFault> } | { readonly refused: Promise<Refused> };

export class Network {
  readonly #options: NetworkOptions;
  readonly #provider: Driver;
  /** The fate of the next request. */
  #fault: Promise<MemoryFault> = Promise.resolve({});
  readonly #late = new Set<() => void>();
  /** Inserts by their entity, and those that were sent more than once. */
  readonly #inserts = new Set<string>();
  readonly #repeatedInserts = new Set<string>();
  readonly #rates: readonly (readonly [Fault, number])[];
  /** No faults any more. */
  isCalm = false;

  constructor(options: NetworkOptions) {
    this.#options = options;
    const { entityBytesMax, chunksMax, chunkBytes, faults } = options.scenario;
    const sizes = { entityBytesMax, chunksMax, chunkBytes, entityOverheadBytes: 100, chunkOverheadBytes: 8 };
    const limits = { ...sizes, readsMax: 4, writesMax: 5, listMax: 5 };
    this.#provider = memoryDriver({ state: options.state, limits, faults: () => this.#fault });
    this.#rates = Object.entries(faults) as [Fault, number][];
  }

  /** The provider as one process reaches it. */
  driverFor(life: Life): Driver {
    const driver: Driver = {
      limits: this.#provider.limits,
      read: async (requests, options) => {
        const ids = requests.map(({ id }) => id);
        for (const id of ids) life.readLast.add(id);
        if (ids.length > 1 && this.#isPiecemeal(life)) {
          const each = await Promise.all(requests.map((request) => driver.read([request], options)));
          return each.flat();
        }
        const parts = requests.map(({ id, parts }) => `${id}${parts === 'all' ? '' : `[${parts.join()}]`}`);
        const entities = await this.#ask(life, 'read', parts, options, (provider) => provider.read(requests, options));
        this.#countMerged(requests, entities);
        return entities;
      },
      list: (prefix, cursor, count, options) =>
        this.#ask(life, 'list', [prefix], options, (provider) => provider.list(prefix, cursor, count, options)),
      write: (writes, options) => {
        const kind = writes.some((write) => write.kind === 'insert') ? 'insert' : 'change';
        const name = writes.map((write) => `${write.kind} ${write.id}`).join(' + ');
        const ids = writes.map(({ id }) => id);
        const step = mergeStepOf(writes, this.#options.state);
        return this.#change(life, { name, kind, ids, step, ...options }, (provider) => provider.write(writes, options));
      },
      remove: (removals, options) => {
        const ids = removals.map(({ id }) => id);
        const name = `remove ${ids.join(' + ')}`;
        return this.#change(life, { name, kind: 'remove', ids, ...options }, (provider) =>
          provider.remove(removals, options),
        );
      },
      close: async () => undefined,
    };
    return driver;
  }

  /** Ends all faults, and delivers all late requests. */
  calm(): void {
    this.isCalm = true;
    const { scheduler } = this.#options;
    for (const deliver of this.#late) scheduler.at(scheduler.nowMs, deliver);
  }

  /** The provider asks for the fate before it returns, so one field suffices. */
  #send<T>(fault: Promise<MemoryFault>, send: (provider: Driver) => Promise<T>): Promise<T> {
    this.#fault = fault;
    return send(this.#provider);
  }

  async #ask<T>(
    life: Life,
    kind: 'read' | 'list',
    names: readonly string[],
    { timeoutMs }: DriverCallOptions,
    send: (provider: Driver) => Promise<T>,
  ): Promise<T> {
    const fate = this.#meet(life, { name: `${kind} ${names.join(' + ')}`, kind, ids: [], timeoutMs });
    if ('refused' in fate) throw new TypeError('a read is never refused');
    return this.#send(fate.fault, send);
  }

  async #change<O extends { readonly kind: string }>(
    life: Life,
    request: Request,
    send: (provider: Driver) => Promise<readonly (O | Refused)[]>,
  ): Promise<readonly (O | Refused)[]> {
    for (const id of request.ids) life.readLast.delete(id);
    const fate = this.#meet(life, request);
    const outcomes = 'refused' in fate ? [await fate.refused] : await this.#send(fate.fault, send);
    if (request.ids.length > 1) this.#options.events.count('batch of several writes');
    for (const outcome of outcomes) this.#options.events.count(`outcome ${nameOf(outcome)}`);
    if (request.step !== undefined && !('refused' in fate))
      this.#options.events.count(`${request.step}: ${outcomes.map(nameOf).join()}`);
    this.#tell(life, `${outcomes.map(nameOf).join()} <- ${request.name}`);
    return outcomes;
  }

  #meet(life: Life, request: Request): Fate {
    life.countRequest();
    if (life.isDead) return { fault: never() };
    const { scenario } = this.#options;
    const number = (life.process.calls += 1);
    if (request.step !== undefined) life.process.mergeSteps[request.step] += 1;
    const chance = new Chance(scenario.seed, 3, life.process.index, number);
    const mishaps = this.isCalm ? [] : scenario.mishaps.filter((mishap) => isDue(mishap, life, number, request.step));
    const crash = mishaps.find((mishap) => mishap.kind === 'crash' && !mishap.isSent);
    if (crash !== undefined) {
      this.#tell(life, `is about to send ${request.name}`);
      this.#befall(life, crash);
      return { fault: never() };
    }
    const fault = this.isCalm ? undefined : this.#draw(chance, request);
    this.#tell(life, `#${number} ${request.name}${fault === undefined ? '' : ` (${fault})`}`);
    if (fault !== undefined) this.#options.events.count(`fault ${fault}`);
    const delayMs = mishaps.reduce((sum, mishap) => sum + (mishap.kind === 'delay' ? mishap.ms : 0), 0);
    const fate = this.#deliver(life, request, chance, fault, delayMs);
    for (const mishap of mishaps) if (!life.isDead) this.#befall(life, mishap);
    return fate;
  }

  /** Draws a fault that the scenario has and this kind of request can meet. */
  #draw(chance: Chance, { kind, ids }: Request): Fault | undefined {
    if (this.#rates.length === 0) return undefined;
    const isChange = kind !== 'read' && kind !== 'list';
    const able: Partial<Record<Fault, boolean>> = {
      'applied long after failing': isChange,
      'applied twice': isChange,
      'turned away though applied': isChange,
      'part of a batch applied': isChange && ids.length > 1,
      // Inserts take fresh ids, and no provider reports a free id as taken.
      'spurious conflict': (kind === 'change' || kind === 'remove') && ids.length === 1,
      'refused for its size': (kind === 'change' || kind === 'insert') && ids.length === 1,
      'reply lost after applying': isChange,
      'read piecemeal': false,
      'empty page of a listing': kind === 'list',
    };
    return this.#rates.find(([fault, rate]) => able[fault] !== false && chance.is(rate))?.[0];
  }

  #deliver(
    life: Life,
    { kind, ids, timeoutMs }: Request,
    chance: Chance,
    fault: Fault | undefined,
    delayMs: number,
  ): Fate {
    const { scheduler, scenario, touch } = this.#options;
    const latency = this.isCalm ? 'even' : scenario.latency;
    const sentMs = scheduler.nowMs;
    if (kind === 'insert')
      for (const id of ids) (this.#inserts.has(id) ? this.#repeatedInserts : this.#inserts).add(id);
    const arriveMs =
      sentMs + delayMs + oneWayMs(chance, latency) + (fault === 'slow on the way' ? 500 + chance.below(14_000) : 0);
    const answerMs =
      arriveMs + oneWayMs(chance, latency) + (fault === 'slow to reply' ? 500 + chance.below(11_000) : 0);
    const isAsked = kind === 'read' || kind === 'list';
    const replyMs = Math.min(answerMs, sentMs + (isAsked ? Math.min(timeoutMs, SILENCE_MS) : timeoutMs));
    const isLate = fault === 'applied long after failing' || arriveMs > replyMs;
    const isLost = fault === 'reply lost after applying' || answerMs > replyMs;
    const lag = chance.of([50, 2_000, 30_000, 2 * HOUR_MS]) * chance.share();
    const later = (deliver: () => void): void => {
      const arrive = (): void => {
        if (!this.#late.delete(arrive)) return;
        const wasTurnedAway = fault === 'turned away though applied';
        const isRepeated = ids.some((id) => this.#repeatedInserts.has(id));
        const isSecond = wasTurnedAway || fault === 'applied twice' || isRepeated;
        // No node of a dropped table returns: it would pass for a linked one (RELIABILITY.md).
        if (isSecond && kind === 'insert' && ids.some((id) => this.#isOfDroppedTable(id))) return;
        // After a read its caller may have been told that nothing was written (RELIABILITY.md).
        if (wasTurnedAway && ids.some((id) => life.readLast.has(id))) return;
        if (wasTurnedAway) this.#options.events.count('late second copy of a throttled write');
        touch(ids);
        deliver();
      };
      this.#late.add(arrive);
      scheduler.at(arriveMs + lag, arrive);
    };
    const reply = this.#when(replyMs, life);
    const refuse = fault === 'turned away as too much' ? 'throttled' : fault === 'denied' ? fault : undefined;
    if (refuse !== undefined) return { fault: Promise.resolve({ refuse, reply }) };
    if (fault === 'spurious conflict') return { refused: reply.then(() => ({ kind: 'refused', reason: 'condition' })) };
    if (fault === 'refused for its size') return { refused: reply.then(() => ({ kind: 'refused', reason: 'limit' })) };
    if (isLate && ids.length === 0) return { fault: Promise.resolve({ fail: 'unavailable', reply }) };
    if (isLate) return { fault: Promise.resolve({ late: later, reply }) };
    return {
      fault: this.#arrival(life, arriveMs, ids).then(() => ({
        reply,
        // A proxy sent it twice. The other copy was applied before, or is late.
        ...(fault === 'turned away though applied'
          ? { refuse: 'throttled' as const, again: chance.is(0.5) ? later : (deliver: () => void) => deliver() }
          : {}),
        ...(isLost ? { replyLost: true as const } : {}),
        ...(fault === 'throttled before applying' ? { fail: 'throttled' as const } : {}),
        ...(fault === 'failed before applying' ? { fail: 'unavailable' as const } : {}),
        ...(fault === 'applied twice' ? { again: later } : {}),
        ...(fault === 'part of a batch applied' ? { only: ids.flatMap((_, at) => (chance.is(0.5) ? [at] : [])) } : {}),
        ...(fault === 'empty page of a listing' ? { emptyPage: true as const } : {}),
      })),
    };
  }

  #countMerged(requests: readonly ReadRequest[], entities: readonly (Entity | undefined)[]): void {
    for (const [at, entity] of entities.entries()) {
      const header = requests[at]?.parts === 'all' ? entity?.parts.get(partName('h')) : undefined;
      if (header !== undefined && stateOf(header) === 'merged')
        this.#options.events.count('merged leaf read whole, as a scan does');
    }
  }

  #isOfDroppedTable(id: string): boolean {
    const [, table, incarnation] = id.split('!');
    const root = nodeAt(this.#options.state, `t!${table}!`);
    return incarnation !== undefined && (root?.state !== 'live' || root.incarnation !== incarnation);
  }

  /** Resolves when the request takes effect. Never resolves if a crash recalls it. */
  #arrival(life: Life, arriveMs: number, ids: readonly string[]): Promise<void> {
    const { scheduler, touch } = this.#options;
    return new Promise((resolve) => {
      const recall = scheduler.at(arriveMs, () => {
        life.inFlight.delete(recall);
        touch(ids);
        resolve();
      });
      life.inFlight.add(recall);
    });
  }

  #when(dueMs: number, life: Life): Promise<void> {
    return new Promise((resolve) => {
      this.#options.scheduler.at(dueMs, resolve, life);
    });
  }

  #isPiecemeal(life: Life): boolean {
    const { scenario, events } = this.#options;
    const rate = scenario.faults['read piecemeal'] ?? 0;
    const isPiecemeal =
      !this.isCalm && new Chance(scenario.seed, 4, life.process.index, life.process.calls).is(4 * rate);
    if (isPiecemeal) events.count('fault read piecemeal');
    return isPiecemeal;
  }

  #befall(life: Life, mishap: Mishap): void {
    this.#options.events.count(`mishap ${mishap.kind}`);
    if (mishap.step !== undefined) {
      this.#options.events.count(`mishap ${mishap.kind} as it was to ${mishap.step}`);
      this.#options.stopped?.();
    }
    switch (mishap.kind) {
      case 'crash':
        this.#tell(life, 'crashes');
        this.#options.events.count('crash with requests under way', life.inFlight.size > 0 ? 1 : 0);
        return life.process.crash(mishap.downMs);
      case 'sleep':
        this.#tell(life, `sleeps for ${mishap.ms} ms`);
        return life.nap(mishap.ms, mishap.monotonicStops);
      case 'clock':
        this.#tell(life, `has its clock set by ${mishap.jumpMs} ms`);
        return life.process.setClock(mishap.jumpMs);
      case 'delay':
        return;
      default:
        mishap satisfies never;
    }
  }

  #tell(life: Life, what: string): void {
    this.#options.events.tell(`p${life.process.index}.${life.number}`, what);
  }
}

/** A mishap that aims at a step of merging counts only such requests. */
function isDue({ process, atCall, step }: Mishap, life: Life, number: number, now: MergeStep | undefined): boolean {
  if (process !== life.process.index) return false;
  return step === undefined ? atCall === number : step === now && atCall === life.process.mergeSteps[step];
}

/** A shared promise would keep every waiter of every run in memory. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

function oneWayMs(chance: Chance, latency: Latency): number {
  if (latency === 'wide') return chance.share() * 300;
  return latency === 'uneven' && chance.is(0.1) ? chance.share() * 4_000 : 1 + chance.share() * 9;
}

function nameOf(outcome: { readonly kind: string; readonly reason?: string }): string {
  return outcome.reason === undefined ? outcome.kind : `${outcome.kind} (${outcome.reason})`;
}
