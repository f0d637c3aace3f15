// The engine of one table in one process: its core and the router of changes.
import { createCore, type EngineCore, type EngineSubject, type StoreShared } from './core.ts';
import { ParentRepair } from './parent-repair.ts';
import { Router } from './router.ts';

export interface Engine extends EngineCore {
  readonly router: Router;
}

/** No I/O. Throws `invalid` for a container size that is out of range. */
export function createEngine(shared: StoreShared, subject: Omit<EngineSubject, 'repair' | 'landedBetween'>): Engine {
  const core = createCore(shared, {
    ...subject,
    repair: (entry) => parents.repair(entry),
    landedBetween: (before, now) => router.landedBetween(before, now),
  });
  const router = new Router(core);
  const parents = new ParentRepair(core.clock, (change) => void router.route([change]));
  return { ...core, router };
}
