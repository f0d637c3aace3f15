// Events that many seeds must meet. A danger that never occurs is never tested, so the run fails.
import { FAULTS } from './scenario.ts';
import type { SimulationName } from './simulations.ts';

/** The rarest event of EXPECTED occurs many times in 400 seeds. */
const SEEDS_FOR_COVERAGE = 400;
/** Its seeds are short, and each meets less. */
const SEEDS_FOR_COVERAGE_OF_THE_MACHINE = 2_000;

/** The machine sends one write at a time, reads one node, and lists nothing. */
const FAULTS_OF_OTHERS: readonly string[] = ['part of a batch applied', 'read piecemeal', 'empty page of a listing'];

const EXPECTED: readonly string[] = [
  ...FAULTS.map((fault) => `fault ${fault}`),
  'late second copy of a throttled write',
  'batch of several writes',
  ...['crash', 'sleep', 'clock'].map((mishap) => `mishap ${mishap}`),
  'crash with requests under way',
  'process restarted',
  'operation cut off by a crash',
  'operation of unknown fate',
  ...['aborted', 'conflict', 'not_found', 'too_large', 'unavailable', 'unknown'].map((code) => `answer ${code}`),
  'leaf split',
  'branch split',
  'root leaf grew',
  'root branch grew',
  'split into more than two nodes',
  'empty root split beforehand',
  'parent repaired',
  'walk to the right',
  'write settled by reading',
  'conflict, tried again at once',
  'read before a commit',
  'leaf split for contention',
  'rest before a commit',
  'commit of an id alone',
  'page compressed',
  'record seen in doubt of its expiry, or expired',
  'expired record purged',
  'scan to its end',
  'records cleared',
  'verification beside others',
  'repair beside others',
  'batch of a group',
  'batch that wrote nothing: conflict',
  'put of a batch',
  'table recreated',
  'tombstone set to removing',
  'tombstone set to removed',
  'a node of a dropped table was removed',
  'a removed node came back by a late insert',
  'vacuum removed an orphan',
  'vacuum left an orphan it could not judge',
  'vacuum fenced an origin',
  'leaf retired',
  'retired leaf absorbed',
  'copy linked',
  'retired leaf read for its records',
  'search to the left',
  'merge finished by a writer',
  'merged leaf read whole, as a scan does',
  'absorbed leaf emptied',
  'what is left of a merged leaf removed a day later',
  'entry overridden',
  'entry dropped',
  'merge finished by a vacuum',
  ...['retire', 'absorb', 'strip'].map((step) => `${step}: refused (condition)`),
  'pair left alone, as it was not quiet',
  'leaf purged',
  ...['crash', 'sleep'].map((mishap) => `mishap ${mishap} as it was to retire`),
  'mishap crash as it was to absorb',
];

/** EXPECTED_OF_MANY needs 2,000 seeds. */
const SEEDS_FOR_THE_RARE = 2_000;

const EXPECTED_OF_MANY: readonly string[] = ['copy that nobody linked removed'];

const EXPECTED_OF_THE_MACHINE: readonly string[] = [
  ...FAULTS.filter((fault) => !FAULTS_OF_OTHERS.includes(fault)).map((fault) => `fault ${fault}`),
  'late second copy of a throttled write',
  ...['crash', 'sleep', 'clock'].map((mishap) => `mishap ${mishap}`),
  'crash with requests under way',
  'operation of unknown fate',
  ...['aborted', 'conflict', 'too_large', 'unavailable', 'unknown'].map((code) => `answer ${code}`),
  ...['answered', 'came', 'checked', 'failed', 'inserted', 'late', 'pause over', 'shown'].map(
    (kind) => `event ${kind}`,
  ),
  ...['right', 'left', 'again'].map((way) => `changes sent on: ${way}`),
  'leaf split',
  'root leaf grew',
  'root branch grew',
  'parent repaired',
  'write settled by reading',
  'read before a commit',
  'rest before a commit',
  'split after a hold lost',
  'leaf split after a hold',
  'hold that no split followed',
  'commit that asks others to hold',
  'layer laid above a base',
  'layers handed on by a split',
  'page that stayed at a split',
  'split by a patch',
  'dead slots shed by a replace',
  'small leaf split under pressure',
  'split that names its parts',
  'parts of a split no longer named',
  'layers joined by a merge',
  'layers merged',
  'records moved by a merge',
  'leaf retired',
  'leaf retired beside a retired one',
  'retired leaf absorbed',
  'retired leaf absorbed beside changes',
  'copy linked',
  'merge finished by a writer',
  'absorbed leaf emptied',
  'search to the left',
];

/** Expected events that did not occur; such a run fails. Below 400 seeds nothing is expected. */
export function missing(of: SimulationName, seeds: number, counts: ReadonlyMap<string, number>): string[] {
  if (seeds < SEEDS_FOR_COVERAGE) return [];
  if (of === 'machine' && seeds < SEEDS_FOR_COVERAGE_OF_THE_MACHINE) return [];
  if (of === 'machine') return EXPECTED_OF_THE_MACHINE.filter((name) => (counts.get(name) ?? 0) === 0);
  const expected = seeds < SEEDS_FOR_THE_RARE ? EXPECTED : [...EXPECTED, ...EXPECTED_OF_MANY];
  return expected.filter((name) => (counts.get(name) ?? 0) === 0);
}

/** A table of all events, by name. */
export function told(counts: ReadonlyMap<string, number>): string {
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return rows.map(([name, count]) => `${String(count).padStart(10)}  ${name}`).join('\n');
}
