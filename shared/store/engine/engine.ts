// The engine of one table in one process: its core, and the router that brings changes to their containers.
import type { Driver } from '../contract/driver.ts';
import { createCore, type EngineCore, type StoreShared } from './core.ts';
import { Router } from './router.ts';

export interface Engine extends EngineCore {
  readonly router: Router;
}

/** No I/O. */
export function createEngine(shared: StoreShared, table: string, driver: Driver): Engine {
  const core = createCore(shared, {
    table,
    driver,
    repair: (...entry) => router.repair(...entry),
    landedBetween: (before, now) => router.landedBetween(before, now),
  });
  const router = new Router(core);
  return { ...core, router };
}
