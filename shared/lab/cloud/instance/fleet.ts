// A load's instances: fixed, or started as on Cloud Run and Flex Consumption. Idle ones stay.
import type { Scheduler } from '../../kit/scheduler.ts';
import { Instance } from './instance.ts';

/** Instances that start as operations come. */
interface FollowingFleet {
  readonly kind: 'following';
  /** Operations that an instance takes at once. */
  readonly concurrency: number;
  /** From the decision to start an instance to its first operation. */
  readonly startMs: number;
  readonly instancesMax: number;
}

/** A fixed one is there from the first moment; caller n is on instance n modulo their count. */
export type FleetOptions = { readonly kind: 'fixed'; readonly instances: number } | FollowingFleet;

export class Fleet {
  readonly instances: Instance[] = [];
  readonly #scheduler: Scheduler;
  /** Undefined in a fixed fleet, where nobody waits. */
  readonly #following: FollowingFleet | undefined;
  readonly #waiting: ((instance: Instance) => void)[] = [];

  constructor(scheduler: Scheduler, options: FleetOptions) {
    this.#scheduler = scheduler;
    this.#following = options.kind === 'following' ? options : undefined;
    if (options.kind === 'fixed') for (let number = 0; number < options.instances; number += 1) this.#start(0);
  }

  /** Undefined in a fleet that follows its load. */
  fixed(caller: number): Instance | undefined {
    return this.#following === undefined ? this.instances[caller % this.instances.length] : undefined;
  }

  /** Counts as one of the instance's operations until `release`. */
  take(caller: number): Instance | Promise<Instance> {
    const free = this.fixed(caller) ?? (this.#waiting.length === 0 ? this.#freeInstance() : undefined);
    if (free !== undefined) return begun(free);
    const waited = new Promise<Instance>((resolve) => {
      this.#waiting.push(resolve);
    });
    this.#grow(this.#following!);
    return waited;
  }

  release(instance: Instance): void {
    instance.taken -= 1;
    this.#serve();
  }

  #freeInstance(): Instance | undefined {
    const { concurrency } = this.#following!;
    let free: Instance | undefined;
    for (const instance of this.instances) {
      const isFree = instance.readyAtMs <= this.#scheduler.nowMs && instance.taken < concurrency;
      if (isFree && instance.taken < (free?.taken ?? Infinity)) free = instance;
    }
    return free;
  }

  /** Starts what those who wait will need beside the instances that are starting already. */
  #grow({ concurrency, startMs, instancesMax }: FollowingFleet): void {
    const starting = this.instances.filter(({ readyAtMs }) => readyAtMs > this.#scheduler.nowMs).length;
    const lacking = Math.ceil(this.#waiting.length / concurrency) - starting;
    const count = Math.min(lacking, instancesMax - this.instances.length);
    for (let number = 0; number < count; number += 1) {
      this.#start(startMs);
      this.#scheduler.at(this.#scheduler.nowMs + startMs, () => this.#serve());
    }
  }

  #start(startMs: number): void {
    this.instances.push(new Instance(this.instances.length, this.#scheduler, startMs));
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const free = this.#freeInstance();
      if (free === undefined) return;
      this.#waiting.shift()!(begun(free));
    }
  }
}

function begun(instance: Instance): Instance {
  instance.taken += 1;
  return instance;
}
