// A provider's numbers: name, range, source. A figure can name those that it was computed with.
import type { Provider } from '../../kit/dimensions.ts';

/** The origin of a number: the provider's documentation, somebody's measurement, or a guess. */
export type Grade = 'documented' | 'measured' | 'guessed';

/** `low` and `high` are the least and largest value that sources, or our doubt, allow. */
export interface Figure {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
  readonly grade: Grade;
  /** An address and what it says there; of a guess, why. */
  readonly source: string;
}

/** Kinds of request; each has a service time of its own. */
export type RequestKind = 'get' | 'getMany' | 'commit' | 'transaction' | 'list';

/** Numbers that every provider has. */
export type ParameterName =
  | `network.oneWayMs.${'median' | 'sigma'}`
  | `${RequestKind}.${'baseMs' | 'perEntityMs' | 'perKibMs' | 'sigma'}`
  | 'commit.perIndexRowMs'
  | 'batch.exponent'
  | `tail.${'share' | 'factor'}`
  | 'effect.share'
  | `loss.${'requestShare' | 'replyShare' | 'silentShare'}`
  | `contention.${'holdShare' | 'waitMaxMs' | 'writesPerSecond' | 'burstWrites'}`
  | `partition.${'unitsPerSecond' | 'burstSeconds' | 'serialMsPerEntity'}`
  | `account.${'unitsPerSecond' | 'burstSeconds'}`
  | 'unit.kib'
  | 'throttle.replyMs'
  | `ramp.${'isCold' | 'startPerSecond' | 'growth' | 'everyMs' | 'waitMaxMs'}`
  | `range.${'count' | 'writesPerSecond' | 'waitMaxMs' | 'splitAfterMs'}`
  | `sdk.${'timeoutMs' | 'readRetriesMax' | 'writeRetriesMax' | 'retryBaseMs' | 'retryFactor' | 'retryDelayMaxMs'}`;

/** A rate or count that is never reached: the provider states none. */
export const NO_LIMIT = 1e9;

export interface ProviderData {
  readonly name: string;
  /** When its sources were read, `2026-11`, or what time they speak of. */
  readonly date: string;
  readonly provider: Provider;
  readonly figures: Readonly<Record<ParameterName, Figure>>;
}

/** Which end of a number's range is taken. */
export type Level = 'low' | 'middle' | 'high';

/** A provider's numbers for one run: the middles, save for the overrides. */
export class ProviderParameters {
  readonly data: ProviderData;
  readonly #values = new Map<ParameterName, number>();
  readonly #used = new Set<ParameterName>();

  /** Throws a TypeError for an unknown name, with all there are, and for no number from 0 up. */
  constructor(data: ProviderData, overrides: Readonly<Record<string, number | Level>> = {}) {
    this.data = data;
    for (const name of namesOf(data)) this.#values.set(name, data.figures[name].middle);
    for (const [name, value] of Object.entries(overrides)) this.#override(name, value);
  }

  /** The number, remembered as used. */
  get(name: ParameterName): number {
    this.#used.add(name);
    return this.#values.get(name)!;
  }

  /** The names of the numbers that were read so far, in alphabetical order. */
  get used(): readonly ParameterName[] {
    return [...this.#used].toSorted();
  }

  #override(name: string, value: number | Level): void {
    const names = namesOf(this.data);
    const known = names.find((one) => one === name);
    if (known === undefined)
      throw new TypeError(`${this.data.name} has no parameter ${name}; there are ${names.join(', ')}`);
    const number = typeof value === 'number' ? value : this.data.figures[known][value];
    if (!(number >= 0)) throw new TypeError(`a parameter is a number from 0 up: ${name}=${value}`);
    this.#values.set(known, number);
  }
}

/** The names of a provider's parameters, in the order of its file. */
export function namesOf(data: ProviderData): readonly ParameterName[] {
  return Object.keys(data.figures) as ParameterName[];
}
