// Shares seeds among worker processes, and gathers their results.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { addCounts } from './events.ts';
import type { Found, Work } from './worker.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

export interface Seeds {
  readonly from: number;
  readonly count: number;
  /** Default: one for each processor. */
  readonly workers?: number | undefined;
  /** Default: unlimited. */
  readonly forMs?: number | undefined;
  /** Each worker stops after this many failures. Default 3. */
  readonly failuresMax?: number | undefined;
  readonly mutant?: string | undefined;
}

export interface Report extends Omit<Found, 'counts'> {
  readonly counts: ReadonlyMap<string, number>;
  readonly tookMs: number;
}

/** Runs the seeds. Rejects if a worker ends without an answer. */
export async function runSeeds({ from, count, workers = availableParallelism(), ...rest }: Seeds): Promise<Report> {
  const begunMs = performance.now();
  const { forMs = 2 ** 40, failuresMax = 3, mutant } = rest;
  const step = Math.max(1, Math.min(workers, count));
  const shares = Array.from({ length: step }, (_, index): Work => ({
    from: from + index,
    until: from + count,
    step,
    forMs,
    failuresMax,
    mutant,
  }));
  const found = await Promise.all(shares.map(runShare));
  const counts = new Map<string, number>();
  for (const share of found) addCounts(counts, share.counts);
  return {
    seeds: found.reduce((sum, { seeds }) => sum + seeds, 0),
    steps: found.reduce((sum, { steps }) => sum + steps, 0),
    failures: found.flatMap(({ failures }) => failures).toSorted((a, b) => a.seed - b.seed),
    counts,
    tookMs: performance.now() - begunMs,
  };
}

async function runShare(work: Work): Promise<Found> {
  const worker = fork(WORKER, { execArgv: ['--max-semi-space-size=64'] });
  const ended = once(worker, 'exit').then((end) => [{ error: `a worker ended: ${end.join(' ')}` }]);
  try {
    worker.send(work);
    const [answer] = (await Promise.race([once(worker, 'message'), ended])) as [{ found?: Found; error?: string }];
    if (answer.found !== undefined) return answer.found;
    throw new Error(answer.error);
  } finally {
    worker.kill();
    await ended;
  }
}
