// One simulated process: its clocks, its chance, its store. It may crash (its memory is gone, its requests may still land), sleep for hours
// while the others go on, or have its clock set.
import type { Driver } from '../../shared/store/contract/driver.ts';
import type { Runtime } from '../../shared/store/contract/runtime.ts';
import { openStore, type Store, type TableStats } from '../../shared/store/index.ts';
import { loadHash } from '../../shared/store/system/hash.ts';
import { Chance } from './chance.ts';
import type { MergeStep } from './mishap.ts';
import type { Scenario } from './scenario.ts';
import type { Owner, Scheduler } from '../../shared/lab/cloud/time/scheduler.ts';

// WebAssembly is compiled beside virtual time, which would pass the first call's deadline meanwhile.
await loadHash();

/** What the clocks show when a run begins. */
export const START_WALL_MS = 1_700_000_000_000;
/** Of calls that name none. */
export const TIMEOUT_MS = 30_000;
/** Whoever looks at its clocks so often before anything else happens does so for ever. */
const LOOKS_MAX = 100_000;
/** And whoever makes so many requests: ten times what any life takes. */
const REQUESTS_MAX = 10_000;
/** A process that went in a circle is started again after so long. */
const RESTART_MS = 20_000;
const LONG_MS = 1_000_000;

/** The life of a process from its start to its crash, or its end. */
export class Life implements Owner, Runtime {
  readonly number: number;
  readonly store: Store;
  /** Resolves at its crash. */
  readonly crashed: Promise<void>;
  /** Requests under way that a crash may still recall. */
  readonly inFlight = new Set<() => void>();
  isDead = false;
  wakesAtMs = 0;
  /** How often it slept. */
  naps = 0;
  /** It went in a circle, and was ended. */
  isStuck = false;
  #requests = 0;
  #looks = 0;
  #looksAtStep = 0;
  readonly #scheduler: Scheduler;
  readonly #chance: Chance;
  readonly #process: Process;
  #stoodStillMs = 0;
  /** How busy it is, 0 to 1; undefined: now this, now that. */
  readonly #busyShare: number | undefined;
  #die: () => void;

  constructor(
    process: Process,
    scheduler: Scheduler,
    scenario: Scenario,
    number: number,
    driverFor: (life: Life) => Driver,
  ) {
    this.#process = process;
    this.#scheduler = scheduler;
    this.number = number;
    this.#chance = new Chance(scenario.seed, 2, process.index, number);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.crashed = promise;
    this.#die = resolve;
    this.#busyShare = this.#chance.is(0.5) ? this.#chance.share() : undefined;
    const { compression, cacheBytesMax } = scenario;
    const driver = driverFor(this);
    this.store = openStore({ driver, runtime: this, compression, cacheBytesMax, timeoutMs: TIMEOUT_MS });
  }

  /** Handles it opened, for their statistics. */
  readonly tables: { stats(): TableStats }[] = [];

  get process(): Process {
    return this.#process;
  }

  wallMs(): number {
    this.#countLook();
    return Math.floor(START_WALL_MS + this.#scheduler.nowMs + this.#process.wallOffsetMs);
  }

  monotonicMs(): number {
    this.#countLook();
    // Its turn is longer at each look, then: the engine waits for the next, which does not come.
    return this.#scheduler.nowMs - this.#stoodStillMs + (this.isStuck ? this.#looks * LONG_MS : 0);
  }

  /** Ends a process that looks at its clocks without end: what it waits for would never happen. */
  #countLook(): void {
    const { steps } = this.#scheduler;
    if (steps !== this.#looksAtStep) this.#looks = 0;
    this.#looksAtStep = steps;
    this.#looks += 1;
    if (this.#looks > 2 * LOOKS_MAX)
      throw new Error('the process stands still, and takes no turn that could be its last');
    if (this.#looks > LOOKS_MAX) this.#end();
  }

  /** To be called before each request, which is not made if the process is dead then. */
  countRequest(): void {
    this.#requests += 1;
    if (this.#requests > REQUESTS_MAX) this.#end();
  }

  #end(): void {
    if (this.isStuck) return;
    this.isStuck = true;
    this.#process.crash(RESTART_MS);
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

  /** Work takes no time here: no turn is ever long. */
  nextTurn(): Promise<void> {
    return this.isStuck ? new Promise<never>(() => undefined) : Promise.resolve();
  }

  random(bytes: number): Uint8Array {
    const drawn = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += 1) drawn[at] = this.#chance.below(256);
    return drawn;
  }

  /** Memory is gone; each request under way lands or does not. */
  crash(): void {
    this.isDead = true;
    for (const recall of this.inFlight) if (this.#chance.is(0.5)) recall();
    this.#die();
  }

  nap(ms: number, monotonicStops: boolean): void {
    this.wakesAtMs = this.#scheduler.nowMs + ms;
    this.naps += 1;
    if (monotonicStops) this.#stoodStillMs += ms;
  }
}

export class Process {
  readonly index: number;
  wallOffsetMs: number;
  /** Requests made so far, in all its lives. */
  calls = 0;
  /** How many of them did what for a merge. */
  readonly mergeSteps: Record<MergeStep, number> = { retire: 0, copy: 0, absorb: 0, strip: 0 };
  /** By how much its clock was set, in all. */
  wallJumpsMs = 0;
  #life: Life;
  #restarted: Promise<void> = Promise.resolve();
  readonly #scheduler: Scheduler;
  readonly #start: (number: number) => Life;

  constructor(index: number, scheduler: Scheduler, scenario: Scenario, driverFor: (life: Life) => Driver) {
    this.index = index;
    this.#scheduler = scheduler;
    this.wallOffsetMs = scenario.skewsMs[index] ?? 0;
    this.#start = (number) => {
      const life = new Life(this, scheduler, scenario, number, driverFor);
      this.lives.push(life);
      return life;
    };
    this.#life = this.#start(0);
  }

  /** All there were. */
  readonly lives: Life[] = [];

  /** The latest, which may have ended. */
  get life(): Life {
    return this.#life;
  }

  /** Memory is gone; `downMs` later the process starts again, with an empty one. */
  crash(downMs: number): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#restarted = promise;
    this.#life.crash();
    this.#scheduler.at(this.#scheduler.nowMs + downMs, () => {
      this.#life = this.#start(this.#life.number + 1);
      resolve();
    });
  }

  /** The present life, once there is one, awake. */
  async awake(): Promise<Life> {
    await this.#restarted;
    for (let life = this.#life; life.wakesAtMs > this.#scheduler.nowMs; life = this.#life) {
      await this.#scheduler.after(life.wakesAtMs - this.#scheduler.nowMs);
      await this.#restarted;
    }
    return this.#life;
  }

  setClock(jumpMs: number): void {
    this.wallOffsetMs += jumpMs;
    this.wallJumpsMs += Math.abs(jumpMs);
  }
}
