// The network decides when a request arrives, whether it takes effect, and when it is answered. It
// awaits nothing itself: at the time of the answer it calls back.
import { checked } from '../../shared/drivers/checked.ts';
import { refused, unknown } from '../../shared/drivers/common/driver-outcomes.ts';
import { memoryEffects, type MemoryState } from '../../shared/drivers/memory/effects.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import {
  type Driver,
  type DriverLimits,
  type Entity,
  type ListCursor,
  type ListPage,
  type ReadRequest,
  type Refused,
  SILENCE_MS,
  type Unknown,
  type Write,
  type WriteOutcome,
} from '../../shared/store/contract/driver.ts';
import { StoreError } from '../../shared/store/contract/errors.ts';
import { Chance } from './seeded-chance.ts';
import { stateOf } from './decode.ts';
import type { Events } from './events.ts';
import { partName } from '../support/ids.ts';
import { mergeStepOf, nodeAt } from './merge-step.ts';
import type { Life } from './process.ts';
import type { Fault, Latency, MergeStep, Mishap, Weather } from './scenario.ts';
import type { Scheduler } from '../../shared/lab/kit/virtual-time.ts';

const HOUR_MS = 3_600_000;
/** Sorts before all ids. */
const AT_START = '' as ListCursor;

export interface NetworkOptions {
  readonly scenario: Weather;
  readonly state: MemoryState;
  readonly scheduler: Scheduler;
  readonly events: Events;
  /** Called with every entity that a request may change in this step. */
  readonly touch: (ids: readonly string[]) => void;
}

/** A request as the network sees it. */
interface Request<O> {
  readonly name: string;
  readonly kind: 'read' | 'list' | 'insert' | 'change' | 'remove';
  /** Entities it may change. */
  readonly ids: readonly string[];
  readonly timeoutMs: number;
  /** The step of a merge that a write does. */
  readonly step?: MergeStep | undefined;
  /** Takes effect. With `only`, other writes or removals have none. */
  readonly apply: (only?: readonly number[]) => readonly O[];
  /** Never called for a process that died. */
  readonly answer: Answer<O>;
}

type Answer<O> = (answer: readonly O[] | StoreError) => void;
type Outcome<O> = O | Refused | Unknown;

/** What a request without its ordinary answer is told. */
type Trouble = 'condition' | 'limit' | 'denied' | 'throttled' | 'throttled before' | 'lost';

export class Network {
  readonly #options: NetworkOptions;
  readonly #effects: ReturnType<typeof memoryEffects>;
  readonly limits: DriverLimits;
  readonly #late = new Set<() => void>();
  /** Inserts by their entity, and those that were sent more than once. */
  readonly #inserts = new Set<string>();
  readonly #repeatedInserts = new Set<string>();
  readonly #rates: readonly (readonly [Fault, number])[];
  readonly #spared: ReadonlySet<string>;
  /** The requests that met a fault, each by process and number. */
  readonly struck: string[] = [];
  /** No faults any more. */
  isCalm = false;

  constructor(options: NetworkOptions) {
    this.#options = options;
    const { entityBytesMax, chunksMax, chunkBytes, faults, spared = [] } = options.scenario;
    const sizes = { entityBytesMax, chunksMax, chunkBytes, entityOverheadBytes: 100, chunkOverheadBytes: 8 };
    this.limits = { ...memoryDriver().limits, ...sizes, readsMax: 4, writesMax: 5, listMax: 5 };
    this.#effects = memoryEffects(options.state, this.limits);
    this.#rates = Object.entries(faults) as [Fault, number][];
    this.#spared = new Set(spared);
  }

  /** The provider as one process reaches it, for who awaits its answers. */
  driverFor(life: Life<unknown>): Driver {
    const driver: Driver = {
      limits: this.limits,
      read: async (requests, options) => {
        if (requests.length === 1 || !this.#isPiecemeal(life))
          return promised((answer) => this.read(life, requests, options.timeoutMs, answer));
        const each = await Promise.all(requests.map((request) => driver.read([request], options)));
        return each.flat();
      },
      list: async (prefix, cursor, count, { timeoutMs }) => {
        const page = { prefix, after: cursor ?? '', count };
        const apply = (only?: readonly number[]) =>
          only === undefined ? [this.#effects.list(page)] : [{ ids: [], cursor: cursor ?? AT_START }];
        const request = { name: `list ${prefix}`, kind: 'list', ids: [], timeoutMs, apply } as const;
        const [listed] = await promised<ListPage>((answer) => this.#send(life, { ...request, answer }));
        return listed!;
      },
      write: (writes, { timeoutMs }) => promised((answer) => this.write(life, writes, timeoutMs, answer)),
      remove: (removals, { timeoutMs }) =>
        promised((answer) => {
          const ids = removals.map(({ id }) => id);
          const apply = (only?: readonly number[]) => this.#effects.remove(removals, only);
          this.#change(life, { name: `remove ${ids.join(' + ')}`, kind: 'remove', ids, timeoutMs, apply, answer });
        }),
      close: async () => undefined,
    };
    return checked(driver);
  }

  read(
    life: Life<unknown>,
    requests: readonly ReadRequest[],
    timeoutMs: number,
    answer: Answer<Entity | undefined>,
  ): void {
    for (const { id } of requests) life.reads.set(id, readsOf(life, id) + 1);
    const parts = requests.map(({ id, parts }) => `${id}${parts === 'all' ? '' : `[${parts.join()}]`}`);
    this.#send<Entity | undefined>(life, {
      name: `read ${parts.join(' + ')}`,
      kind: 'read',
      ids: [],
      timeoutMs,
      apply: () => this.#effects.read(requests),
      answer: (entities) => {
        if (!(entities instanceof StoreError)) this.#countMerged(requests, entities);
        answer(entities);
      },
    });
  }

  write(life: Life<unknown>, writes: readonly Write[], timeoutMs: number, answer: Answer<WriteOutcome>): void {
    const kind = writes.some((write) => write.kind === 'insert') ? 'insert' : 'change';
    const name = writes.map((write) => `${write.kind} ${write.id}`).join(' + ');
    const ids = writes.map(({ id }) => id);
    const step = mergeStepOf(writes, this.#options.state);
    const copies = writes.map(copyOf);
    const apply = (only?: readonly number[]) => this.#effects.write(copies, only);
    this.#change(life, { name, kind, ids, step, timeoutMs, apply, answer });
  }

  /** Ends all faults, and delivers all late requests. */
  calm(): void {
    this.isCalm = true;
    const { scheduler } = this.#options;
    for (const deliver of this.#late) scheduler.at(scheduler.nowMs, deliver);
  }

  #change<O extends { readonly kind: string }>(life: Life<unknown>, request: Request<Outcome<O>>): void {
    const { events } = this.#options;
    const { ids, name, step } = request;
    const answer: Answer<Outcome<O>> = (outcomes) => {
      if (outcomes instanceof StoreError) throw outcomes;
      if (ids.length > 1) events.count('batch of several writes');
      for (const outcome of outcomes) events.count(`outcome ${nameOf(outcome)}`);
      if (step !== undefined) events.count(`${step}: ${outcomes.map(nameOf).join()}`);
      this.#tell(life, `${outcomes.map(nameOf).join()} <- ${name}`);
      request.answer(outcomes);
    };
    this.#send(life, { ...request, answer });
  }

  #send<O>(life: Life<unknown>, request: Request<O>): void {
    if (life.isDead) return;
    const { scenario, events } = this.#options;
    const number = (life.process.calls += 1);
    if (request.step !== undefined) life.process.mergeSteps[request.step] += 1;
    const chance = new Chance(scenario.seed, 3, life.process.index, number);
    const mishaps = this.isCalm ? [] : scenario.mishaps.filter((mishap) => isDue(mishap, life, number, request.step));
    const crash = mishaps.find((mishap) => mishap.kind === 'crash' && !mishap.isSent);
    if (crash !== undefined) {
      this.#tell(life, `is about to send ${request.name}`);
      return this.#befall(life, crash);
    }
    const fault = this.isCalm ? undefined : this.#draw(chance, request, `${life.process.index}/${number}`);
    this.#tell(life, `#${number} ${request.name}${fault === undefined ? '' : ` (${fault})`}`);
    if (fault !== undefined) events.count(`fault ${fault}`);
    this.#deliver(life, request, chance, fault);
    for (const mishap of mishaps) if (!life.isDead) this.#befall(life, mishap);
  }

  /** Draws a fault that the scenario has and this kind of request can meet. */
  #draw(chance: Chance, { kind, ids }: Pick<Request<never>, 'kind' | 'ids'>, name: string): Fault | undefined {
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
    const fault = this.#rates.find(([one, rate]) => able[one] !== false && chance.is(rate))?.[0];
    if (fault === undefined || this.#spared.has(name)) return undefined;
    this.struck.push(name);
    return fault;
  }

  #deliver<O>(life: Life<unknown>, request: Request<O>, chance: Chance, fault: Fault | undefined): void {
    const { scheduler, scenario } = this.#options;
    const { kind, ids, timeoutMs, apply } = request;
    const latency = this.isCalm ? 'even' : scenario.latency;
    const sentMs = scheduler.nowMs;
    if (kind === 'insert')
      for (const id of ids) (this.#inserts.has(id) ? this.#repeatedInserts : this.#inserts).add(id);
    const arriveMs =
      sentMs + oneWayMs(chance, latency) + (fault === 'slow on the way' ? 500 + chance.below(14_000) : 0);
    const answerMs =
      arriveMs + oneWayMs(chance, latency) + (fault === 'slow to reply' ? 500 + chance.below(11_000) : 0);
    const isAsked = kind === 'read' || kind === 'list';
    const replyMs = Math.min(answerMs, sentMs + (isAsked ? Math.min(timeoutMs, SILENCE_MS) : timeoutMs));
    const lag = chance.of([50, 2_000, 30_000, 2 * HOUR_MS]) * chance.share();
    const reply = (answer: () => readonly O[] | StoreError): void => {
      scheduler.at(replyMs, () => request.answer(answer()), life);
    };
    const fail = (trouble: Trouble): void => reply(() => troubled(request, trouble) as readonly O[] | StoreError);
    const later = (): void => this.#deliverLate(life, request, fault, arriveMs + lag);
    if (fault === 'turned away as too much') return fail('throttled');
    if (fault === 'denied') return fail('denied');
    if (fault === 'spurious conflict') return fail('condition');
    if (fault === 'refused for its size') return fail('limit');
    if (fault === 'applied long after failing' || arriveMs > replyMs) {
      fail('lost');
      if (ids.length > 0) later();
      return;
    }
    const isAppliedFirst = chance.is(0.5);
    const parts = ids.flatMap((_, at) => (chance.is(0.5) ? [at] : []));
    this.#arrive(life, arriveMs, ids, () => {
      if (fault === 'throttled before applying') return fail('throttled before');
      if (fault === 'failed before applying') return fail('lost');
      if (fault === 'turned away though applied') {
        // A proxy sent it twice. The other copy was applied before, or is late.
        fail('throttled');
        return isAppliedFirst ? void apply() : later();
      }
      const only = fault === 'part of a batch applied' ? parts : fault === 'empty page of a listing' ? [] : undefined;
      const outcomes = apply(only);
      if (fault === 'applied twice') later();
      if (fault === 'reply lost after applying' || answerMs > replyMs) fail('lost');
      else reply(() => outcomes);
    });
  }

  /** A second copy of a request, or one that was given up. */
  #deliverLate(
    life: Life<unknown>,
    { kind, ids, apply }: Pick<Request<unknown>, 'kind' | 'ids' | 'apply'>,
    fault: Fault | undefined,
    atMs: number,
  ): void {
    const { scheduler, events, touch } = this.#options;
    const readsBefore = ids.map((id) => readsOf(life, id));
    const arrive = (): void => {
      if (!this.#late.delete(arrive)) return;
      const wasTurnedAway = fault === 'turned away though applied';
      const isRepeated = ids.some((id) => this.#repeatedInserts.has(id));
      const isSecond = wasTurnedAway || fault === 'applied twice' || isRepeated;
      // No node of a dropped table returns: it would pass for a linked one (RELIABILITY.md).
      if (isSecond && kind === 'insert' && ids.some((id) => this.#isOfDroppedTable(id))) return;
      // After a read its caller may have been told that nothing was written (RELIABILITY.md).
      if (wasTurnedAway && ids.some((id, at) => readsOf(life, id) > readsBefore[at]!)) return;
      if (wasTurnedAway) events.count('late second copy of a throttled write');
      touch(ids);
      apply();
    };
    this.#late.add(arrive);
    scheduler.at(atMs, arrive);
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

  /** The request takes effect then, unless a crash recalls it before. */
  #arrive(life: Life<unknown>, arriveMs: number, ids: readonly string[], take: () => void): void {
    const { scheduler, touch } = this.#options;
    const recall = scheduler.at(arriveMs, () => {
      life.inFlight.delete(recall);
      touch(ids);
      take();
    });
    life.inFlight.add(recall);
  }

  #isPiecemeal(life: Life<unknown>): boolean {
    const { scenario, events } = this.#options;
    const rate = scenario.faults['read piecemeal'] ?? 0;
    const isPiecemeal =
      !this.isCalm && new Chance(scenario.seed, 4, life.process.index, life.process.calls).is(4 * rate);
    if (isPiecemeal) events.count('fault read piecemeal');
    return isPiecemeal;
  }

  #befall(life: Life<unknown>, mishap: Mishap): void {
    this.#options.events.count(`mishap ${mishap.kind}`);
    if (mishap.step !== undefined) this.#options.events.count(`mishap ${mishap.kind} as it was to ${mishap.step}`);
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
      default:
        mishap satisfies never;
    }
  }

  #tell(life: Life<unknown>, what: string): void {
    this.#options.events.tell(`p${life.process.index}.${life.number}`, what);
  }
}

/** A mishap that aims at a step of merging counts only such requests. */
function isDue(
  { process, atCall, step }: Mishap,
  life: Life<unknown>,
  number: number,
  now: MergeStep | undefined,
): boolean {
  if (process !== life.process.index) return false;
  return step === undefined ? atCall === number : step === now && atCall === life.process.mergeSteps[step];
}

/** A read or a listing fails. Of a change each part has such an outcome. */
function troubled(
  { kind, ids }: Pick<Request<never>, 'kind' | 'ids'>,
  trouble: Trouble,
): StoreError | Outcome<never>[] {
  const isThrottled = trouble === 'throttled' || trouble === 'throttled before';
  const isKnown = trouble === 'throttled' || trouble === 'denied';
  const cause = new StoreError(isThrottled ? 'throttled' : 'unavailable', `the network has it so: ${trouble}`, {
    retryable: trouble !== 'denied',
    ...(trouble === 'throttled' ? { retryAfterMs: 100 } : {}),
  });
  if (kind === 'read' || kind === 'list') return cause;
  if (trouble === 'lost' || trouble === 'throttled before')
    return ids.map(() => unknown(isThrottled ? 'throttled' : 'other'));
  return ids.map(() => refused(trouble, isKnown ? cause : undefined));
}

/** Copies bytes. A Buffer's `slice` would share its memory. */
function copyOf(write: Write): Write {
  return { ...write, parts: write.parts.map((part) => ({ ...part, bytes: new Uint8Array(part.bytes) })) };
}

function promised<O>(ask: (answer: Answer<O>) => void): Promise<readonly O[]> {
  return new Promise((resolve, reject) => {
    ask((answer) => (answer instanceof StoreError ? reject(answer) : resolve(answer)));
  });
}

function oneWayMs(chance: Chance, latency: Latency): number {
  if (latency === 'wide') return chance.share() * 300;
  return latency === 'uneven' && chance.is(0.1) ? chance.share() * 4_000 : 1 + chance.share() * 9;
}

function readsOf({ reads }: Life<unknown>, id: string): number {
  return reads.get(id) ?? 0;
}

function nameOf(outcome: { readonly kind: string; readonly reason?: string }): string {
  return outcome.reason === undefined ? outcome.kind : `${outcome.kind} (${outcome.reason})`;
}
