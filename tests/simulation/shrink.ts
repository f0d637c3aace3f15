// Leaves clients, actions, mishaps and faults out of a failing scenario while it still fails.
import type { Action } from './actions.ts';
import { run } from './run.ts';
import type { Scenario } from './scenario.ts';

/** The smallest failing scenario found in `forMs`. One that does not fail comes back whole. */
export async function shrink(scenario: Scenario, forMs: number): Promise<Scenario> {
  const untilMs = performance.now() + forMs;
  let best = scenario;
  if (!(await fails(best))) return best;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const candidate of smaller(best)) {
      if (performance.now() > untilMs) return best;
      if (!(await fails(candidate))) continue;
      best = candidate;
      isSmaller = true;
      break;
    }
  }
  return best;
}

async function fails(scenario: Scenario): Promise<boolean> {
  return (await run(scenario)).complaints.length > 0;
}

/** Scenarios with a little less. The largest savings come first. */
function* smaller(scenario: Scenario): Generator<Scenario> {
  const { clients, mishaps, faults } = scenario;
  const doing = (index: number, actions: readonly Action[]): Scenario => ({
    ...scenario,
    clients: clients.with(index, { ...clients[index]!, actions }),
  });
  for (const index of clients.keys())
    if (clients.length > 1) yield { ...scenario, clients: clients.toSpliced(index, 1) };
  for (let size = 8; size >= 1; size = Math.floor(size / 2)) {
    for (const [index, { actions }] of clients.entries()) {
      for (let at = 0; at < actions.length; at += size)
        if (size === 1 || actions.length > size) yield doing(index, actions.toSpliced(at, size));
    }
  }
  for (const index of mishaps.keys()) yield { ...scenario, mishaps: mishaps.toSpliced(index, 1) };
  for (const fault of Object.keys(faults)) {
    const left = Object.fromEntries(Object.entries(faults).filter(([name]) => name !== fault));
    yield { ...scenario, faults: left };
  }
  for (const [index, { actions }] of clients.entries()) {
    for (const [at, action] of actions.entries()) {
      if (!('keys' in action) || action.keys.length < 2) continue;
      const half = action.keys.length / 2;
      for (const keys of [action.keys.slice(half), action.keys.slice(0, half)])
        yield doing(index, actions.with(at, { ...action, keys }));
    }
  }
}
