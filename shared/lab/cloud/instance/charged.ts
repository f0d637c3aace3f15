// Calls on a modelled instance, and their cost of its processor.
import { type Cost, costAt } from '../data/processor.ts';
import type { Instance } from './instance.ts';

/**
 * Half of the cost is spent before the request is sent, half when it is answered. `more` is known
 * with the answer.
 */
export async function charged<T>(
  instance: Instance,
  cost: Cost,
  send: () => Promise<T>,
  more?: (answer: T) => number,
): Promise<T> {
  const { processor } = instance;
  instance.inFlight += 1;
  try {
    const half = costAt(cost, instance.inFlight) / 2;
    await processor.spend(half);
    const answer = await send();
    await processor.spend(half + (more?.(answer) ?? 0));
    return answer;
  } finally {
    instance.inFlight -= 1;
  }
}

/** The object with some methods of its own in place of its methods. */
export function overridden<T extends object>(object: T, own: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      const member: unknown = Reflect.get(name in own ? own : target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
