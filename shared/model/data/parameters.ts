// The numbers of a modelled provider: each has a name, a source and a range, and each reading of it is remembered, so that a figure of the
// model can say which numbers it hangs on.

/** Where a number comes from: the provider's documentation, somebody's measurement, or nobody: then it is our guess. */
export type Grade = 'documented' | 'measured' | 'guessed';

/** One number of a provider. `low` and `high` are what sources say at their extremes, or how far a guess may be wrong. */
export interface Figure {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
  readonly grade: Grade;
  /** An address and what it says; of a guess, why. */
  readonly source: string;
}

/** Numbers that every provider has, in milliseconds where the name says so. README.md tells how each is used. */
export type ParameterName =
  | `network.oneWayMs.${'median' | 'sigma'}`
  | `${'get' | 'getMany' | 'commit' | 'transaction' | 'list' | 'query'}.${'baseMs' | 'perEntityMs' | 'perKibMs' | 'sigma'}`
  | `tail.${'share' | 'factor'}`
  | `loss.${'requestShare' | 'replyShare'}`;

/** A provider as a data file gives it. */
export interface ProviderData {
  readonly name: string;
  /** Month of the sources, `2026-11`. */
  readonly date: string;
  readonly provider: 'datastore' | 'azure-tables';
  readonly figures: Readonly<Record<ParameterName, Figure>>;
}

/** Which end of each number's range is taken. */
export type Level = 'low' | 'middle' | 'high';

/** A provider's numbers for one run. */
export class ProviderParameters {
  readonly data: ProviderData;
  readonly #values: Map<string, number>;
  readonly #used = new Set<ParameterName>();

  /** Throws a TypeError for an override whose name is unknown, and names the nearest. */
  constructor(data: ProviderData, overrides: Readonly<Record<string, number | Level>> = {}) {
    this.data = data;
    this.#values = new Map(Object.entries(data.figures).map(([name, figure]) => [name, figure.middle]));
    for (const [name, value] of Object.entries(overrides)) {
      const figure = data.figures[name as ParameterName] as Figure | undefined;
      if (figure === undefined) throw new TypeError(`no parameter of ${data.name} has this name: name=${name}`);
      this.#values.set(name, typeof value === 'number' ? value : figure[value]);
    }
  }

  /** The number, remembered as used. */
  get(name: ParameterName): number {
    this.#used.add(name);
    return this.#values.get(name)!;
  }

  /** The numbers that were read so far, in order of their names. */
  get used(): readonly ParameterName[] {
    return [...this.#used].toSorted();
  }
}
