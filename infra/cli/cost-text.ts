// Estimates as tables for a terminal.
import { USERS_LAYOUTS, type UsersLayout } from '../../shared/lab/kit/dimensions.ts';
import { PROVIDER_NAMES } from '../../shared/lab/report/names.ts';
import { cents, dollars } from '../../shared/lab/kit/format.ts';
import { textTable, wrapped } from '../../shared/lab/kit/text-table.ts';
import type { Estimate } from '../../shared/lab/cost/estimate.ts';
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
export function estimateText(estimate: Estimate, list: PriceList): string {
  const { provider, bills, perMillionRecords } = estimate;
  const { meters } = list.providers[provider];
  const missing = meters.filter((meter) => USERS_LAYOUTS.some((layout) => bills[layout].unpriced.includes(meter)));
  const names = missing.map((meter) => METER_NAMES[meter]).join(', ');
  const month = [
    ...meters.map((meter, at) => row(METER_NAMES[meter], (layout) => priced(bills[layout].lines[at]!.dollars))),
    row('total', (layout) => priced(bills[layout].dollars)),
    row('free tiers take off', (layout) => priced(bills[layout].freeDollars)),
    row('to pay', (layout) => priced(bills[layout].dollars - bills[layout].freeDollars)),
  ];
  const operations = (['read', 'written', 'deleted'] as const).map((what) =>
    row(`a million records ${what}`, (layout) => priced(perMillionRecords[layout][what], dollars)),
  );
  return [
    `${PROVIDER_NAMES[provider]}, ${regionText(regionOf(list, provider, estimate.region))}`,
    textTable(['dollars a month', ...USERS_LAYOUTS], month, 1),
    '',
    textTable(['operations, without free tiers', ...USERS_LAYOUTS], operations, 1),
    '',
    ...(missing.length === 0 ? [] : [`No price was found for ${names}: totals leave it out.`, '']),
    'Where the prices stand:',
    ...sourcesOf(estimate, list).map((source) => `  ${source}`),
  ].join('\n');
}

function row(name: string, cell: (layout: UsersLayout) => string): string[] {
  return [name, ...USERS_LAYOUTS.map(cell)];
}

/** Sentences as a list. */
export function assumptionsText(assumptions: readonly string[]): string {
  return ['What this rests on:', ...assumptions.flatMap((one) => wrapped(`- ${one}`))].join('\n');
}

/** Each address once. */
function sourcesOf({ provider, region }: Estimate, list: PriceList): string[] {
  const { prices } = regionOf(list, provider, region);
  const lines = Object.values(prices).map(
    ({ source, read, isVerified }) => `${source} (${isVerified ? `read ${read}` : 'not verified on that page'})`,
  );
  return [...new Set(lines)];
}

function priced(value: number | null, format = cents): string {
  return value === null ? 'no price' : format(value);
}
