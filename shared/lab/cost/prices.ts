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

/** Prices of the meters that a provider has: Azure bills no processors apart from memory. */
export type Prices = Readonly<Record<Exclude<Meter, 'vcpuSeconds'>, Price> & Partial<Record<'vcpuSeconds', Price>>>;

export interface RegionPrices {
  readonly region: string;
  /** The kind of storage, where prices differ by it. */
  readonly kind: string;
  readonly prices: Prices;
}

export interface ProviderPrices {
  /** Says what counts as one read, write or delete. */
  readonly billed: string;
  /** The first is the default. */
  readonly regions: readonly [RegionPrices, ...RegionPrices[]];
  /** Free amount of each meter per month; a daily amount is taken as used up every day. */
  readonly free: Readonly<Partial<Record<Meter, Origin & { readonly amount: number }>>>;
  /** Billed of an instance's time at work: so much at least, and above that in whole steps. */
  readonly billedPeriod: Origin & { readonly leastMs: number; readonly stepMs: number };
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
export function regionOf({ providers }: PriceList, provider: Provider, region: string): RegionPrices {
  const { regions } = providers[provider];
  const found = regions.find((one) => one.region === region);
  if (found !== undefined) return found;
  const names = regions.map((one) => one.region).join(', ');
  throw new RangeError(`no prices for ${provider} in ${region}; there are ${names}`);
}

/** The region's name, with the kind of storage where there are several. */
export function regionText({ region, kind }: RegionPrices): string {
  return kind === '' ? region : `${region}, ${kind}`;
}
