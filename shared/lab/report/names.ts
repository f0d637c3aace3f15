// Names and tables, the same on every page and in the terminal.
import { type Layout, type Provider, PROVIDERS, type Workload } from '../kit/dimensions.ts';
import type { Coordinates } from '../load/cell.ts';
import { decimal, factor, intervalText, said, whole } from '../kit/figure-format.ts';
import { totalOf } from '../kit/provider-usage.ts';
import type { Plan } from '../plan/plan.ts';
import type { Against, Circumstances, Report } from './report-schema.ts';

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Google Cloud Datastore',
  'azure-tables': 'Azure Table Storage',
};

export const PROVIDER_SHORT_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Datastore',
  'azure-tables': 'Azure',
};

/** `doing` begins a sentence on a workload, `units` are what is counted a second. */
export const WORKLOAD_WORDS: Readonly<
  Record<Workload, { readonly title: string; readonly doing: string; readonly units: string }>
> = {
  load: { title: 'Load', doing: 'Loading 100 records together', units: 'records' },
  'ycsb-c': { title: 'Read one (YCSB C)', doing: 'Reading one record', units: 'reads' },
  'ycsb-a': { title: 'Update one (YCSB A)', doing: 'Reading or updating one record', units: 'operations' },
  'read-together': {
    title: 'Read together',
    doing: 'Reading 100 records of one tenant together',
    units: 'records',
  },
  'ycsb-e': { title: 'Scan a range (YCSB E)', doing: 'Scanning 1 to 100 records', units: 'scans' },
  'ycsb-b': { title: 'Read mostly (YCSB B)', doing: 'Reading one record, updating one in 20', units: 'operations' },
  'ycsb-d': {
    title: 'Read the latest (YCSB D)',
    doing: 'Reading one of the latest records, inserting one in 20',
    units: 'operations',
  },
  'ycsb-f': {
    title: 'Read and change (YCSB F)',
    doing: 'Reading one record, changing every other without losing a change',
    units: 'operations',
  },
  update: { title: 'Update', doing: 'Updating one record', units: 'updates' },
};

/** What a layout is, in a sentence or a legend. */
export const LAYOUT_WORDS: Readonly<Record<Layout, string>> = {
  record: 'one entity per record',
  batch: "the SDK's batches",
  container: 'this store',
  'container-sdk': "this store over the SDK's transport",
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

/** A figure, or a figure and the interval that stands below it in small print. */
export type Entry = string | readonly [figure: string, small: string];

export interface FigureTable {
  readonly caption: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly Entry[])[];
}

export function searchTable({ searches }: Pick<Report, 'searches'>): FigureTable {
  const rows = searches.map(({ search, ratePerSecondHeld, latencyMs, ...cell }): Entry[] => [
    cellWords(cell),
    `p${search.percentile} < ${search.latencyMsMax} ms`,
    [whole(ratePerSecondHeld.median), intervalText(ratePerSecondHeld, whole)],
    latencyMs === null ? '-' : decimal(latencyMs.median),
  ]);
  return { caption: 'The highest rate that holds a latency', header: ['cell', 'held', 'operations/s', 'ms'], rows };
}

/** The figures that changed since an earlier report, beyond what may be chance. */
export function changeTable({ changes, startedAt, significance }: Against): FigureTable {
  const told = changes.filter(({ verdict }) => verdict !== 'undecided');
  const chance = Math.round(changes.length * significance);
  const rows = told.map((change): Entry[] => [
    cellWords(change),
    change.figure,
    [decimal(change.before.median), intervalText(change.before, decimal)],
    [decimal(change.now.median), intervalText(change.now, decimal)],
    factor(change.ratio),
    change.p.toFixed(3),
  ]);
  const caption = `Against the report of ${startedAt.slice(0, 10)}: ${told.length} of ${changes.length} figures changed with p below ${significance}; by chance about ${chance} would.`;
  return { caption, header: ['cell', 'figure', 'before', 'now', 'ratio', 'p'], rows };
}
