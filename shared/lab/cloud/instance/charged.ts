// Calls on a modelled instance, and their cost of its processor.
import { type Cost, costAt } from '../data/processor.ts';
import type { Processor } from './instance.ts';

interface Station {
  readonly processor: Processor;
  inFlight: number;
}

/** Microseconds beside the cost: before the call is sent, and after its answer. */
interface More<T> {
  readonly sent?: number;
  readonly answered?: (answer: T) => number;
}

/** Half of the cost is spent before the call is sent, half when it is answered. */
export async function charged<T>(
  station: Station,
  cost: Cost,
  send: () => Promise<T>,
  { sent = 0, answered }: More<T> = {},
): Promise<T> {
  const { processor } = station;
  station.inFlight += 1;
  try {
    const half = costAt(cost, station.inFlight) / 2;
    await processor.spend(half + sent);
    const answer = await send();
    await processor.spend(half + (answered?.(answer) ?? 0));
    return answer;
  } finally {
    station.inFlight -= 1;
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
