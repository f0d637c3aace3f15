// Workloads, loads and cells in words, the same on every page and in the terminal.
import type { Coordinates } from '../load/coordinates.ts';
import type { RecordForm, Workload } from '../kit/dimensions.ts';
import { whole } from '../kit/format.ts';
import type { Plan } from '../plan/plan.ts';
import { PROVIDER_SHORT_NAMES } from './names.ts';

export const WORKLOAD_TITLES: Readonly<Record<Workload, string>> = {
  load: 'Load: new records',
  'ycsb-a': 'YCSB A: half reads, half updates',
  'ycsb-b': 'YCSB B: 95 % reads, 5 % updates',
  'ycsb-c': 'YCSB C: reads alone',
  'ycsb-d': 'YCSB D: 95 % reads of the latest, 5 % inserts',
  'ycsb-e': 'YCSB E: 95 % short scans, 5 % inserts',
  'ycsb-f': 'YCSB F: half reads, half read-modify-writes',
};

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

/** `Datastore container, ycsb-a, 32 callers`; with sizes where they are not the usual ones of the plan. */
export function cellWords(cell: Coordinates): string {
  const { provider, layout, workload, containerKib } = cell;
  const size = containerKib === null ? '' : ` of ${containerKib} KiB`;
  return `${PROVIDER_SHORT_NAMES[provider]} ${layout}${size}, ${workload}, ${loadWords(cell)}`;
}

const FORM_WORDS: Readonly<Record<RecordForm, string>> = { ycsb: "YCSB's, random", text: 'compressible text' };

/** `records of 1,000 bytes (YCSB's, random)`. */
export function recordWords({ recordBytes, recordForm }: Pick<Plan, 'recordBytes' | 'recordForm'>): string {
  return `records of ${list(recordBytes.map(whole))} bytes (${FORM_WORDS[recordForm]})`;
}

/** `Datastore, Azure and Other`. */
export function list(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}
