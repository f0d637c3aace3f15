// Datastore's rule for new data: 500 operations per second, half as many more every five minutes.
// https://cloud.google.com/datastore/docs/best-practices
import type { Runtime } from '../../store/index.ts';

const FIRST_PER_SECOND = 500;
const GROWTH = 1.5;
const STEP_MS = 300_000;

/** Operations allowed between two moments, in milliseconds since the dataset's first one. */
export function allowedBetween(fromMs: number, toMs: number): number {
  let allowed = 0;
  for (let atMs = fromMs; atMs < toMs;) {
    const step = Math.floor(atMs / STEP_MS);
    const nextMs = Math.min(toMs, (step + 1) * STEP_MS);
    allowed += (FIRST_PER_SECOND * GROWTH ** step * (nextMs - atMs)) / 1_000;
    atMs = nextMs;
  }
  return allowed;
}

export interface RampOptions {
  /** Milliseconds since the dataset's first operation, when this begins. */
  readonly elapsedMs: number;
  readonly instances: number;
  /** Entity operations so far: a layout that packs many records into one is held up less. */
  readonly spent: () => number;
  readonly runtime: Pick<Runtime, 'monotonicMs' | 'watch'>;
}

/** The wait of a caller that is held up before it asks again. */
const PAUSE_MS = 5;

/** Keeps one instance's operations, counted from its beginning, below the rule. */
export class Ramp {
  readonly #options: RampOptions;
  readonly #startMs: number;
  readonly #spentBefore: number;
  hasHeld = false;

  constructor(options: RampOptions) {
    this.#options = options;
    this.#startMs = options.runtime.monotonicMs();
    this.#spentBefore = options.spent();
  }

  /** Resolves when an operation may be sent, or when `isOver`. */
  async turn(isOver: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isOver() && !this.#isAllowed()) {
      this.hasHeld = true;
      await this.#options.runtime.watch(PAUSE_MS, signal);
    }
  }

  #isAllowed(): boolean {
    const { elapsedMs, instances, spent, runtime } = this.#options;
    const allowed = allowedBetween(elapsedMs, elapsedMs + runtime.monotonicMs() - this.#startMs) / instances;
    return spent() - this.#spentBefore < Math.max(1, allowed);
  }
}
