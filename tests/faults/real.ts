// Rounds on both emulators, side by side, until the time is over. Failed ones keep their history.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { addCounts } from '../simulation/events.ts';
import { told } from '../simulation/coverage.ts';
import { azurePlace, datastorePlace, type Place } from './emulator-place.ts';
import { type Played, playRound } from './round.ts';

export interface Soak {
  readonly forMs: number;
  /** The first round's; each further one has the next. It draws fates and mishaps. */
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** A run of a minute may lack none of them: a danger that is lacking gets further rounds. */
const EXPECTED = [
  'SIGKILL',
  'SIGSTOP',
  'operation cut off by a crash',
  'operation of unknown fate',
  'network: provider down',
];
/** A few slow rounds may lack one by chance; so many cannot. */
const ROUNDS_FOR_ALL = 8;

/** Resolves with the number of rounds that failed, or that a danger is lacking of. */
export async function soak({ forMs, seed, log }: Soak): Promise<number> {
  const endMs = performance.now() + forMs;
  const failures = await Promise.all(
    [datastorePlace, azurePlace].map(async (start) => {
      const place = await start();
      const counts = new Map<string, number>();
      const lacking = (): string[] => (forMs < 60_000 ? [] : EXPECTED.filter((name) => !counts.has(name)));
      const isDue = (at: number): boolean =>
        performance.now() < endMs || (lacking().length > 0 && at < seed + ROUNDS_FOR_ALL);
      let failed = 0;
      for (let at = seed; isDue(at); at += 1) {
        const played = await playRound(place, at);
        addCounts(counts, played.counts);
        if (played.complaints.length > 0) failed += 1;
        for (const line of failureLines(place, at, played)) log(line);
      }
      await place.close();
      log(`${place.driver}:\n${told(counts)}`);
      if (lacking().length > 0) log(`NEVER OCCURRED on ${place.driver}: ${lacking().join('; ')}`);
      return failed + lacking().length;
    }),
  );
  return failures.reduce((sum, one) => sum + one, 0);
}

function failureLines({ driver }: Place, seed: number, { complaints, lines }: Played): string[] {
  if (complaints.length === 0) return [];
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'stowage-faults-')), `${driver}-${seed}.log`);
  writeFileSync(file, lines.join('\n'));
  return [
    `FAILED on ${driver}, seed ${seed}; again: npm run soak -- --real --seed ${seed}; its history: ${file}`,
    ...complaints.map((complaint) => `  ${complaint}`),
  ];
}
