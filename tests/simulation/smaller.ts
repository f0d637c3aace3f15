// Leaves clients, actions, mishaps and faults out of a scenario of the whole store.
import type { Action } from './client-actions.ts';
import type { Scenario } from './scenario.ts';

/** Scenarios with a little less. The largest savings come first. */
export function* smaller(scenario: Scenario): Generator<Scenario> {
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
