// Estimates as a table of at most 80 columns.
import { USERS_LAYOUTS, type UsersLayout } from '../../shared/lab/kit/dimensions.ts';
import { PROVIDER_NAMES } from '../../shared/lab/report/names.ts';
import type { Estimate, MillionRecords } from '../../shared/lab/cost/estimate.ts';
import { type Meter, type Origin, type PriceList, regionOf, regionText } from '../../shared/lab/cost/prices.ts';

const WIDTH = 80;
const NAME_WIDTH = 32;
const CELL_WIDTH = 16;

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

const MILLION_NAMES: Readonly<Record<keyof MillionRecords, string>> = {
  read: 'a million records read',
  written: 'a million records written',
  deleted: 'a million records deleted',
};

/** The table of one cloud, with its sources. */
export function estimateText(estimate: Estimate, list: PriceList): string {
  const { provider, bills, perMillionRecords } = estimate;
  const { meters } = list.providers[provider];
  const missing = meters.filter((meter) => USERS_LAYOUTS.some((layout) => bills[layout].unpriced.includes(meter)));
  const names = missing.map((meter) => METER_NAMES[meter]).join(', ');
  return [
    ...wrapped(`${PROVIDER_NAMES[provider]}, ${regionText(regionOf(list, provider, estimate.region))}`, ''),
    row('dollars a month', (layout) => layout),
    ...meters.map((meter, at) => row(METER_NAMES[meter], (layout) => dollarsText(bills[layout].lines[at]!.dollars))),
    row('total', (layout) => dollarsText(bills[layout].dollars)),
    row('free tiers take off', (layout) => dollarsText(bills[layout].freeDollars)),
    row('to pay', (layout) => dollarsText(bills[layout].dollars - bills[layout].freeDollars)),
    '',
    '  Operations alone, without free tiers',
    ...(['read', 'written', 'deleted'] as const).map((what) =>
      row(MILLION_NAMES[what], (layout) => smallDollarsText(perMillionRecords[layout][what])),
    ),
    '',
    ...(missing.length === 0 ? [] : [...wrapped(`No price was found for ${names}: totals leave it out.`), '']),
    ...wrapped('Sources, as the price list trusts them:'),
    ...sourcesOf(estimate, list).flatMap((source) => wrapped(source, '    ')),
  ].join('\n');
}

function row(name: string, cell: (layout: UsersLayout) => string): string {
  return `  ${name.padEnd(NAME_WIDTH - 2)}${USERS_LAYOUTS.map((layout) => cell(layout).padStart(CELL_WIDTH)).join('')}`;
}

/** Sentences as a list. */
export function assumptionsText(assumptions: readonly string[]): string {
  return ['What this rests on:', ...assumptions.flatMap((one) => wrapped(`- ${one}`))].join('\n');
}

const CONFIDENCE: Readonly<Record<Origin['confidence'], string>> = {
  provider: 'the provider says so',
  several: 'several agree',
  one: 'one source',
};

/** Each address once. */
function sourcesOf({ provider, region }: Estimate, list: PriceList): string[] {
  const { prices } = regionOf(list, provider, region);
  const lines = Object.values(prices).map(({ source, confidence }) => `${source} (${CONFIDENCE[confidence]})`);
  return [...new Set(lines)];
}

/** In cents, from half a cent on; what is less, but something, is seen to be so. What nobody pays is short enough for its column. */
function dollarsText(dollars: number | null): string {
  if (dollars === null) return 'no price';
  if (dollars > 0 && dollars < 0.005) return '< 0.01';
  if (dollars >= 1e9) return dollars.toExponential(2);
  return dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** The clouds' prices of operations differ by powers of ten: two significant digits below a dollar. */
function smallDollarsText(dollars: number | null): string {
  if (dollars === null || dollars === 0 || dollars >= 1) return dollarsText(dollars);
  return dollars.toPrecision(2);
}

function wrapped(text: string, indent = '  '): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = `${indent}  `;
    }
    line += line.trim() === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}
