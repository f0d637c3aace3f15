// An engine alone, without a store around it.
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { createEngine, type Engine } from '../../../shared/store/engine/engine.ts';
import { RequestLimit, Semaphore } from '../../../shared/store/io/requests.ts';
import { Clock } from '../../../shared/store/io/clock.ts';
import { ContainerCache } from '../../../shared/store/io/container-cache.ts';
import { Deadlines } from '../../../shared/store/io/deadline.ts';
import type { VirtualRuntime } from '../../support/virtual-runtime.ts';

/** The engine of table `t`. */
export function engineOn(runtime: VirtualRuntime, driver: Driver, cacheBytesMax = 1_000_000): Engine {
  const shared = {
    runtime,
    clock: new Clock(runtime),
    tag: '0000',
    cache: new ContainerCache(cacheBytesMax),
    deadlines: new Deadlines(runtime, 30_000),
    readLimit: new RequestLimit(runtime, 64),
    writeLimit: new RequestLimit(runtime, 64),
    commitsAtATime: new Semaphore(8),
    compression: 'none' as const,
  };
  return createEngine(shared, { table: 't', driver });
}
