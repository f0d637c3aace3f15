// Makes a failing scenario smaller while it still fails.
import type { Weather } from './scenario.ts';
import type { Simulation } from './simulations.ts';

/** The smallest failing scenario found in `forMs`. One that does not fail comes back whole. */
export async function shrink<S extends Weather>(simulation: Simulation<S>, scenario: S, forMs: number): Promise<S> {
  const untilMs = performance.now() + forMs;
  let best = scenario;
  let { complaints, struck } = await simulation.play(best);
  for (let isSmaller = complaints.length > 0; isSmaller;) {
    isSmaller = false;
    for (const candidate of simulation.smaller(best, struck)) {
      if (performance.now() > untilMs) return best;
      const played = await simulation.play(candidate);
      if (played.complaints.length === 0) continue;
      best = candidate;
      ({ complaints, struck } = played);
      isSmaller = true;
      break;
    }
  }
  return best;
}
