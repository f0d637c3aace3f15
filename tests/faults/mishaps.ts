// Mishaps befall the processes while clients call, one at a time: kills, stops, failures of the
// network or the provider.
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../simulation/seeded-chance.ts';
import type { Events } from '../simulation/events.ts';
import type { Place } from './emulator-place.ts';
import type { FaultyProxy } from './proxy.ts';
import type { WorkerProcess } from './worker-process.ts';

const KINDS = { kill: 30, pause: 20, down: 8, refuse: 20, connections: 20 } as const;
type Kind = keyof typeof KINDS;

export interface Disturbed {
  readonly chance: Chance;
  readonly place: Place;
  readonly proxy: FaultyProxy;
  readonly workers: readonly WorkerProcess[];
  readonly events: Events;
  /** Operations answered, or cut off, so far. */
  readonly operations: () => number;
  /** Resolves when no client calls any more. */
  readonly isOver: Promise<unknown>;
}

const LOOK_EVERY_MS = 20;
/** Operations between two mishaps: a slow machine has no more of them than a fast one. */
const OPERATIONS_BETWEEN = 100;

/** Goes on until the clients are done; each mishap is over when this resolves. */
export async function disturb(disturbed: Disturbed): Promise<void> {
  const { chance, operations, isOver } = disturbed;
  const over = isOver.then(() => 'over' as const);
  let due = 1;
  while ((await Promise.race([over, delay(LOOK_EVERY_MS)])) !== 'over') {
    if (operations() < due) continue;
    await befall(disturbed, chance.weighted<Kind>(KINDS));
    due = operations() + 1 + chance.below(OPERATIONS_BETWEEN);
  }
}

async function befall({ chance, place, proxy, workers, events }: Disturbed, kind: Kind): Promise<void> {
  const worker = chance.of(workers);
  events.tell('MISHAP', kind);
  switch (kind) {
    case 'kill':
      events.count('SIGKILL');
      return worker.kill(chance.of([0, 100, 1_000]));
    case 'pause':
      events.count('SIGSTOP');
      return worker.pause(chance.of([20, 300, 2_500]));
    case 'down': {
      const downMs = chance.of([200, 1_000, 3_000]);
      proxy.refuse(downMs);
      await delay(downMs);
      return;
    }
    case 'refuse':
      events.count(`provider answers: ${place.fail(chance)}`);
      return;
    case 'connections':
      return proxy.disturb(chance.of(['cut', 'reset', 'swallowed', 'silent'] as const));
    default:
      kind satisfies never;
  }
}
