// A month's bill: what each meter counted, times its price, with what is free of it set apart.
import type { Provider } from '../kit/dimensions.ts';
import { sum } from '../kit/numbers.ts';
import { dollarsEach, type FreeTier, type Meter, type PriceList, type Quantities, regionOf } from './prices.ts';

/** A month, for loads and free tiers that are given by the day. */
export const DAYS_A_MONTH = 30;

export interface BillLine {
  readonly meter: Meter;
  readonly quantity: number;
  /** Without the free tier; null where there is a quantity and no price for it. */
  readonly dollars: number | null;
  readonly freeQuantity: number;
  readonly freeDollars: number;
}

export interface Bill {
  /** A line for each meter of the provider, in the order of METERS. */
  readonly lines: readonly BillLine[];
  /** Without free tiers. Nothing is rounded. */
  readonly dollars: number;
  readonly freeDollars: number;
  /** Meters with a quantity and no price: the bill is higher by what they cost. */
  readonly unpriced: readonly Meter[];
}

/** A daily free tier assumes the same load every day. Throws a RangeError for what is unknown. */
export function billOf(quantities: Quantities, list: PriceList, provider: Provider, region: string): Bill {
  const { meters, free } = list.providers[provider];
  const { prices, continent } = regionOf(list, provider, region);
  for (const [meter, quantity] of Object.entries(quantities)) {
    if (!meters.some((one) => one === meter)) throw new RangeError(`${provider} does not bill ${meter}`);
    if (!(quantity >= 0 && Number.isFinite(quantity))) throw new RangeError(`${meter} cannot be ${quantity}`);
  }
  const lines = meters.map((meter): BillLine => {
    const quantity = quantities[meter] ?? 0;
    const price = prices[meter];
    const tier = free[meter];
    const isFreeHere = tier !== undefined && (tier.continent === undefined || tier.continent === continent);
    const freeQuantity = isFreeHere ? Math.min(quantity, freeAMonth(tier)) : 0;
    if (price === undefined)
      return { meter, quantity, dollars: quantity === 0 ? 0 : null, freeQuantity, freeDollars: 0 };
    const each = dollarsEach(price);
    return { meter, quantity, dollars: quantity * each, freeQuantity, freeDollars: freeQuantity * each };
  });
  return {
    lines,
    dollars: sum(lines.map((line) => line.dollars ?? 0)),
    freeDollars: sum(lines.map((line) => line.freeDollars)),
    unpriced: lines.filter((line) => line.dollars === null).map((line) => line.meter),
  };
}

function freeAMonth({ amount, period }: FreeTier): number {
  return period === 'day' ? amount * DAYS_A_MONTH : amount;
}
