// Shares seeds among worker processes, and gathers their results.
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { addCounts } from './events.ts';
import type { SimulationName } from './simulations.ts';
import type { Found, Message, Work } from './seed-worker.ts';

const WORKER = fileURLToPath(new URL('seed-worker.ts', import.meta.url));

/** No seed takes a hundredth of it: a worker that reports none in that time is in a circle. */
const SILENT_MS = 60_000;

export interface Seeds {
  readonly of: SimulationName;
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
export async function runSeeds({ of, from, count, workers = availableParallelism(), ...rest }: Seeds): Promise<Report> {
  const begunMs = performance.now();
  const { forMs = 2 ** 40, failuresMax = 3, mutant } = rest;
  const step = Math.max(1, Math.min(workers, count));
  const shares = Array.from({ length: step }, (_, index): Work => ({
    of,
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

/** A seed that does not end has failed. What its worker found before is lost. */
async function runShare(work: Work): Promise<Found> {
  const worker = fork(WORKER, { execArgv: ['--max-semi-space-size=64'] });
  const ended = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Found>();
  let seed = work.from;
  const watchdog = setTimeout(() => {
    const complaints = [`it did not end in ${SILENT_MS / 1_000} s`];
    answer.resolve({ seeds: 0, steps: 0, failures: [{ seed, complaints }], counts: [] });
  }, SILENT_MS);
  worker.on('message', (message: Message) => {
    watchdog.refresh();
    if ('at' in message) seed = message.at;
    else if ('found' in message) answer.resolve(message.found);
    else answer.reject(new Error(message.error));
  });
  worker.once('exit', (...end) => {
    answer.reject(new Error(`a worker ended: ${end.join(' ')}`));
    ended.resolve();
  });
  try {
    worker.send(work);
    return await answer.promise;
  } finally {
    clearTimeout(watchdog);
    worker.kill('SIGKILL');
    await ended.promise;
  }
}
