// Providers, layouts, workloads, loads and cells by name and colour, the same on every page and in
// the terminal.
import { type Layout, type Provider, PROVIDERS, type Workload } from '../kit/dimensions.ts';
import type { Coordinates } from '../load/coordinates.ts';
import { whole } from '../kit/format.ts';
import type { Plan } from '../plan/plan.ts';

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Google Cloud Datastore',
  'azure-tables': 'Azure Table Storage',
};

export const PROVIDER_SHORT_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Datastore',
  'azure-tables': 'Azure',
};

type Palette = Readonly<Record<Provider, Readonly<Record<Layout, string>>>>;

/**
 * Warm for Google, blue for Azure; fuller entities are further from the paper's brightness. Each
 * has a contrast of 3 to 1 at least (WCAG 2.2, 1.4.11).
 */
export const PALETTES: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    datastore: {
      record: '#d27a1e',
      batch: '#b5500f',
      driver: '#a8730c',
      container: '#6e2508',
      'container-batch': '#4a1705',
    },
    'azure-tables': {
      record: '#4a95d6',
      batch: '#1f6cb0',
      driver: '#3d7f9c',
      container: '#0b3763',
      'container-batch': '#061f3a',
    },
  },
  dark: {
    datastore: {
      record: '#b5682e',
      batch: '#e8944a',
      driver: '#c79a3a',
      container: '#ffd2ab',
      'container-batch': '#fff0e0',
    },
    'azure-tables': {
      record: '#4580b8',
      batch: '#6fb0ea',
      driver: '#6fa3b8',
      container: '#c4e3fb',
      'container-batch': '#eaf5ff',
    },
  },
};

/** The picture's symbols as characters: layouts differ by more than colour. */
export const SYMBOL_CHARACTERS: Readonly<Record<Layout, string>> = {
  record: '●',
  batch: '■',
  driver: '▼',
  container: '▲',
  'container-batch': '★',
};

/** A series' colour as CSS: a variable that `paletteCss` sets. */
export function colourOf(provider: Provider, layout: Layout): string {
  return `var(--${provider}-${layout})`;
}

/** The declarations behind `colourOf`. */
export function paletteCss(palette: Palette): string {
  return Object.entries(palette)
    .flatMap(([provider, layouts]) =>
      Object.entries(layouts).map(([layout, colour]) => `--${provider}-${layout}: ${colour};`),
    )
    .join(' ');
}

export const WORKLOAD_TITLES: Readonly<Record<Workload, string>> = {
  load: 'Load: new records',
  'ycsb-a': 'YCSB A: half reads, half updates',
  'ycsb-b': 'YCSB B: 95 % reads, 5 % updates',
  'ycsb-c': 'YCSB C: reads alone',
  'ycsb-d': 'YCSB D: 95 % reads of the latest, 5 % inserts',
  'ycsb-e': 'YCSB E: 95 % short scans, 5 % inserts',
  'ycsb-f': 'YCSB F: half reads, half read-modify-writes',
};

/** Providers that have cells, in the order of all reports. */
export function providersIn(cells: readonly Pick<Coordinates, 'provider'>[]): Provider[] {
  return PROVIDERS.filter((provider) => cells.some((cell) => cell.provider === provider));
}

/** `32 callers`, `4 x 8 callers`, `400/s offered`. */
export function loadWords({
  instances,
  callers,
  ratePerSecond,
}: Pick<Coordinates, 'instances' | 'callers' | 'ratePerSecond'>): string {
  if (ratePerSecond !== null) return `${whole(ratePerSecond)}/s offered${instances > 1 ? ` by ${instances}` : ''}`;
  const own = `${callers} ${callers === 1 && instances === 1 ? 'caller' : 'callers'}`;
  return instances > 1 ? `${instances} x ${own}` : own;
}

/** `Datastore container of 64 KiB, ycsb-a, 500 B, 32 callers`. */
export function cellWords(cell: Coordinates): string {
  const { provider, layout, workload, recordBytes, containerKib } = cell;
  const size = containerKib === null ? '' : ` of ${containerKib} KiB`;
  return `${PROVIDER_SHORT_NAMES[provider]} ${layout}${size}, ${workload}, ${whole(recordBytes)} B, ${loadWords(cell)}`;
}

/** `records of 1,000 random bytes, as YCSB's`. */
export function recordWords({ recordBytes, recordForm }: Pick<Plan, 'recordBytes' | 'recordForm'>): string {
  const sizes = list(recordBytes.map(whole));
  return recordForm === 'ycsb'
    ? `records of ${sizes} random bytes, as YCSB's`
    : `records of ${sizes} bytes of compressible text`;
}

/** `0123456789ab`, with `+` behind it where files differed from the commit; `unknown`. */
export function commitWords(commit: string | null): string {
  return commit === null ? 'unknown' : commit.replace(/^(.{12})[^+]*/, '$1');
}

/** `Datastore, Azure and Other`. */
export function list(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}
