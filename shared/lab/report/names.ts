// Names and colours, the same on every page and in the terminal.
import { type Layout, LAYOUTS, type Provider, PROVIDERS, type Workload } from '../kit/dimensions.ts';
import type { Coordinates } from '../load/coordinates.ts';
import { said, whole } from '../kit/format.ts';
import { totalOf } from '../kit/usage.ts';
import type { Plan } from '../plan/plan.ts';
import type { Circumstances, Report } from './schema.ts';

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Google Cloud Datastore',
  'azure-tables': 'Azure Table Storage',
};

export const PROVIDER_SHORT_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Datastore',
  'azure-tables': 'Azure',
};

type ColourOfEach<List> = { readonly [At in keyof List]: string };
/** A colour for each of `LAYOUTS`, in their order. */
type Palette = Readonly<Record<Provider, ColourOfEach<typeof LAYOUTS>>>;

/**
 * Warm for Google, blue for Azure; fuller entities are further from the paper's brightness. Each
 * has a contrast of 3 to 1 at least (WCAG 2.2, 1.4.11).
 */
const PALETTES: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    datastore: ['#d27a1e', '#b5500f', '#a8730c', '#6e2508', '#4a1705'],
    'azure-tables': ['#4a95d6', '#1f6cb0', '#3d7f9c', '#0b3763', '#061f3a'],
  },
  dark: {
    datastore: ['#b5682e', '#e8944a', '#c79a3a', '#ffd2ab', '#fff0e0'],
    'azure-tables': ['#4580b8', '#6fb0ea', '#6fa3b8', '#c4e3fb', '#eaf5ff'],
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

export function paletteCss(theme: keyof typeof PALETTES): string {
  const colours = PROVIDERS.flatMap((provider) =>
    LAYOUTS.map((layout, at) => `--${provider}-${layout}: ${PALETTES[theme][provider][at]};`),
  );
  return colours.join(' ');
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

export function providersIn(cells: readonly Pick<Coordinates, 'provider'>[]): Provider[] {
  return PROVIDERS.filter((provider) => cells.some((cell) => cell.provider === provider));
}

type LoadOf = Pick<Coordinates, 'instances' | 'callers' | 'ratePerSecond'>;

/** `32 callers`, `4 x 8 callers`, `400/s offered`. */
export function loadWords({ instances, callers, ratePerSecond }: LoadOf): string {
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

/** `Azure batch, load, 500 B, 4 callers, run 1: HTTP 500`. */
export function failureWords(failure: Report['failures'][number]): string {
  return `${cellWords(failure)}, run ${failure.repetition}: ${failure.error}`;
}

/** Records that failed, and operations without a reply. */
export function failedIn({ errors, unfinished }: Pick<Report['cells'][number], 'errors' | 'unfinished'>): number {
  return totalOf(errors) + unfinished;
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

/** `2026-11-24 10:00 UTC, took 12 min`. */
export function ranWords({ startedAt, durationMs }: Pick<Circumstances, 'startedAt' | 'durationMs'>): string {
  const seconds = Math.round(durationMs / 1_000);
  const took = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `${startedAt.replace('T', ' ').slice(0, 16)} UTC, took ${took}`;
}

/** `2 x AMD EPYC, 24 GiB, Linux 6.1.0 x64, Node.js 24.21.0`; a browser tells no memory. */
export function machineWords({ cpu, cores, memoryBytes, platform, node }: Circumstances['coordinator']): string {
  const memory = memoryBytes > 0 && `${Math.round(memoryBytes / 2 ** 30)} GiB`;
  return said(`${cores} x ${cpu}`, memory, platform, /^\d/.test(node) ? `Node.js ${node}` : node).join(', ');
}

/** `msgpackr 2.1.3, azurite 3.37.0`. */
export function versionWords(versions: Circumstances['versions']): string {
  const packages = Object.entries(versions).map((one) => one.join(' '));
  return packages.join(', ');
}

/** `Datastore, Azure and Other`. */
export function list(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}
