// Estimates as tables for a terminal.
import { USERS_LAYOUTS } from '../../shared/lab/kit/dimensions.ts';
import { PROVIDER_NAMES } from '../../shared/lab/report/names.ts';
import { cents } from '../../shared/lab/kit/figure-format.ts';
import { textTable, wrapped } from '../../shared/lab/kit/text-table.ts';
import type { Bill, Estimate } from '../../shared/lab/cost/estimate.ts';
import { type Meter, type PriceList, regionOf, regionText } from '../../shared/lab/cost/prices.ts';

const METER_NAMES: Readonly<Record<Meter, string>> = {
  reads: 'operations: reads',
  writes: 'operations: writes',
  deletes: 'operations: deletes',
  storageGib: 'storage',
  requests: 'compute: calls',
  vcpuSeconds: 'compute: processors',
  gibSeconds: 'compute: memory',
  egressGib: 'egress',
};

/** The table of one cloud, with its sources. */
export function estimateText({ provider, region, bills }: Estimate, list: PriceList): string {
  const row = (name: string, dollarsOf: (bill: Bill) => number): string[] => [
    name,
    ...USERS_LAYOUTS.map((layout) => cents(dollarsOf(bills[layout]))),
  ];
  const prices = regionOf(list, provider, region);
  const sources = Object.values(prices.prices).map(
    ({ source, read, isVerified }) => `  ${source} (${isVerified ? `read ${read}` : 'not verified on that page'})`,
  );
  const rows = [
    ...bills.record.lines.map(({ meter }, at) => row(METER_NAMES[meter], ({ lines }) => lines[at]!.dollars)),
    row('total', ({ dollars }) => dollars),
    row('free tiers take off', ({ freeDollars }) => freeDollars),
    row('to pay', ({ dollars, freeDollars }) => dollars - freeDollars),
  ];
  return [
    `${PROVIDER_NAMES[provider]}, ${regionText(prices)}`,
    textTable(['dollars a month', ...USERS_LAYOUTS], rows, 1),
    '',
    'Where the prices stand:',
    ...new Set(sources),
  ].join('\n');
}

/** Sentences as a list. */
export function assumptionsText(assumptions: readonly string[]): string {
  return ['What this rests on:', ...assumptions.flatMap((one) => wrapped(`- ${one}`))].join('\n');
}
