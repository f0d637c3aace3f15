// What the providers' price lists say: meters, their prices in a region, and what is free of them. The numbers stand in a dated data file.
import type { Provider } from '../kit/dimensions.ts';

/**
 * What is billed, with its unit. `reads`, `writes`, `deletes`: entities on Datastore, requests on Azure Table Storage. `storageGib`: GiB kept
 * for a month. `requests`: calls of a function. `vcpuSeconds`, `gibSeconds`: processors and memory of function instances while they work.
 * `egressGib`: GiB to the internet.
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

/** Where a number comes from. Pages were read in stored copies, so a copy may be older than the day it was read. */
export interface Origin {
  /** The page. */
  readonly source: string;
  /** `YYYY-MM-DD` when it was read. */
  readonly read: string;
  /** Whether the number stood on that page, and the page is the provider's own. Else others gave it: check it. */
  readonly isVerified: boolean;
}

export interface Price extends Origin {
  /** US dollars for `per` units, as the list has them: 0.03 for 100,000. */
  readonly dollars: number;
  readonly per: number;
}

export interface FreeTier extends Origin {
  readonly amount: number;
  /** What is left over at its end is lost. `always`: an amount kept, not used up. */
  readonly period: 'day' | 'month' | 'always';
  /** Who shares the amount. */
  readonly scope: string;
  /** Where it is given; everywhere, if left out. */
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
  /** What storage is meant, as far as prices differ by it. */
  readonly kind: string;
  /** A meter that is missing is one for which no source was found. */
  readonly prices: Readonly<Partial<Record<Meter, Price>>>;
}

export interface ProviderPrices {
  /** What counts as one read, write or delete. */
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

/** Dollars for one unit. */
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
