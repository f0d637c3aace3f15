// A simulated process: clocks, chance and a store. It crashes, sleeps, and has its clock set.
import type { Runtime } from '../../shared/store/contract/runtime.ts';
import type { Store, TableStats } from '../../shared/store/index.ts';
import { loadHash } from '../../shared/store/system/hash.ts';
import { Chance } from './seeded-chance.ts';
import type { MergeStep, Weather } from './scenario.ts';
import type { Owner, Scheduler } from '../../shared/lab/kit/virtual-time.ts';

// Real time compiles WebAssembly, while virtual time would pass the first call's deadline.
await loadHash();

/** The wall time at which every run begins. */
export const START_WALL_MS = 1_700_000_000_000;
/** The deadline of calls that name none. */
export const TIMEOUT_MS = 30_000;

/** What a process runs, made anew in each of its lives. */
type Start<S> = (life: Life<S>) => S;

/** The life of a process from its start to its crash. */
export class Life<S = Store> implements Owner, Runtime {
  readonly number: number;
  readonly store: S;
  /** Requests under way that a crash may still recall. */
  readonly inFlight = new Set<() => void>();
  /** How often it has asked for an entity. */
  readonly reads = new Map<string, number>();
  isDead = false;
  wakesAtMs = 0;
  /** Counts its sleeps. */
  naps = 0;
  readonly #scheduler: Scheduler;
  readonly #chance: Chance;
  #stoodStillMs = 0;
  /** How busy it is, 0 to 1; undefined: drawn at each look. */
  readonly #busyShare: number | undefined;
  readonly #death = Promise.withResolvers<void>();
  /** Resolves at its crash. */
  readonly crashed = this.#death.promise;
  readonly process: Process<S>;

  constructor(process: Process<S>, scheduler: Scheduler, seed: number, number: number, start: Start<S>) {
    this.process = process;
    this.#scheduler = scheduler;
    this.number = number;
    this.#chance = new Chance(seed, 2, process.index, number);
    this.#busyShare = this.#chance.is(0.5) ? this.#chance.share() : undefined;
    this.store = start(this);
  }

  /** Its tables, for their statistics. */
  readonly tables: { stats(): TableStats }[] = [];

  wallMs(): number {
    return Math.floor(START_WALL_MS + this.#scheduler.nowMs + this.process.wallOffsetMs);
  }

  monotonicMs(): number {
    return this.#scheduler.nowMs - this.#stoodStillMs;
  }

  busyShare(): number {
    return this.#busyShare ?? this.#chance.share();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.watch(ms, signal);
  }

  watch(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#scheduler.after(ms, this, signal);
  }

  /** Work takes no virtual time, so no turn is long. */
  nextTurn(): Promise<void> {
    return Promise.resolve();
  }

  random(bytes: number): Uint8Array {
    return Uint8Array.from({ length: bytes }, () => this.#chance.below(256));
  }

  /** Memory is gone. Each request under way lands or is recalled. */
  crash(): void {
    this.isDead = true;
    for (const recall of this.inFlight) if (this.#chance.is(0.5)) recall();
    this.#death.resolve();
  }

  nap(ms: number, monotonicStops: boolean): void {
    this.wakesAtMs = this.#scheduler.nowMs + ms;
    this.naps += 1;
    if (monotonicStops) this.#stoodStillMs += ms;
  }
}

export class Process<S = Store> {
  readonly index: number;
  wallOffsetMs: number;
  /** Its requests in all lives. */
  calls = 0;
  /** Its requests that did each step of a merge. */
  readonly mergeSteps: Record<MergeStep, number> = { retire: 0, copy: 0, absorb: 0, strip: 0 };
  /** The sum of all jumps of its clock. */
  wallJumpsMs = 0;
  /** The latest life, which may have ended. */
  life: Life<S>;
  #restarted: Promise<void> = Promise.resolve();
  readonly #scheduler: Scheduler;
  readonly #start: (number: number) => Life<S>;

  constructor(index: number, scheduler: Scheduler, { seed, skewsMs }: Weather, start: Start<S>) {
    this.index = index;
    this.#scheduler = scheduler;
    this.wallOffsetMs = skewsMs[index] ?? 0;
    this.#start = (number) => {
      const life = new Life(this, scheduler, seed, number, start);
      this.lives.push(life);
      return life;
    };
    this.life = this.#start(0);
  }

  /** All its lives. */
  readonly lives: Life<S>[] = [];

  /** Memory is gone. The process starts again after `downMs`, with an empty one. */
  crash(downMs: number): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#restarted = promise;
    this.life.crash();
    this.#scheduler.at(this.#scheduler.nowMs + downMs, () => {
      this.life = this.#start(this.life.number + 1);
      resolve();
    });
  }

  /** The present life, once the process runs and is awake. */
  async awake(): Promise<Life<S>> {
    await this.#restarted;
    for (let life = this.life; life.wakesAtMs > this.#scheduler.nowMs; life = this.life) {
      await this.#scheduler.after(life.wakesAtMs - this.#scheduler.nowMs);
      await this.#restarted;
    }
    return this.life;
  }

  setClock(jumpMs: number): void {
    this.wallOffsetMs += jumpMs;
    this.wallJumpsMs += Math.abs(jumpMs);
  }
}
