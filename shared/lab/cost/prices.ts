// The form of a price list; a dated file has the numbers.
import type { Provider } from '../kit/dimensions.ts';

/**
 * Meters. `reads`, `writes`, `deletes`: entities on Datastore, requests on Azure. `storageGib`: GiB
 * kept for a month. `requests`: calls of a function. `egressGib`: GiB to the internet.
 */
export const METERS = [
  'reads',
  'writes',
  'deletes',
  'storageGib',
  'requests',
  'vcpuSeconds',
  'gibSeconds',
  'egressGib',
] as const;

export type Meter = (typeof METERS)[number];

/** Amounts by meter, each in its meter's unit; a meter that is missing counts 0. */
export type Quantities = Readonly<Partial<Record<Meter, number>>>;

/** The source of a number. Pages were read in stored copies: a copy may be older than its day. */
export interface Origin {
  readonly source: string;
  /** `YYYY-MM-DD` when it was read. */
  readonly read: string;
  /** Whether the number stood on that page, the provider's own. Else others gave it. */
  readonly isVerified: boolean;
}

export interface Price extends Origin {
  /** US dollars for `per` units, as the list has them: 0.03 for 100,000. */
  readonly dollars: number;
  readonly per: number;
}

export interface FreeTier extends Origin {
  readonly amount: number;
  /** The period of the amount; a rest is lost at its end. `always`: an amount kept, not used up. */
  readonly period: 'day' | 'month' | 'always';
  readonly scope: string;
  /** Regions that have it; default all. */
  readonly continent?: RegionPrices['continent'];
}

/** The period of work that is billed for an instance of a function. */
export interface BilledPeriod extends Origin {
  readonly leastMs: number;
  /** Above that, rounded up to whole steps. */
  readonly stepMs: number;
}

export interface RegionPrices {
  readonly region: string;
  readonly continent: 'North America' | 'Europe';
  /** The kind of storage, as far as prices differ by it. */
  readonly kind: string;
  /** A meter that is missing is one for which no source was found. */
  readonly prices: Readonly<Partial<Record<Meter, Price>>>;
}

export interface ProviderPrices {
  /** Says what counts as one read, write or delete. */
  readonly billed: string;
  /** Meters that this provider has, priced or not. */
  readonly meters: readonly Meter[];
  /** The first is the default. */
  readonly regions: readonly [RegionPrices, ...RegionPrices[]];
  readonly free: Readonly<Partial<Record<Meter, FreeTier>>>;
  readonly billedPeriod: BilledPeriod;
}

export interface PriceList {
  /** `YYYY-MM` when the sources were read. */
  readonly date: string;
  readonly providers: Readonly<Record<Provider, ProviderPrices>>;
}

export function dollarsEach({ dollars, per }: Price): number {
  return dollars / per;
}

/** The prices of the region of that name. Throws a RangeError that names the regions there are. */
export function regionOf(list: PriceList, provider: Provider, region: string): RegionPrices {
  const { regions } = list.providers[provider];
  const found = regions.find((one) => one.region === region);
  if (found !== undefined) return found;
  throw new RangeError(
    `no prices for ${provider} in ${region}; there are ${regions.map((one) => one.region).join(', ')}`,
  );
}

/** The region's name, with the kind of storage where there are several. */
export function regionText({ region, kind }: RegionPrices): string {
  return kind === '' ? region : `${region}, ${kind}`;
}
