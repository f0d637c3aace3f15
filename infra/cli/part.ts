// `stowage compare --part i/n`: this machine's part of a comparison that several drive, each through a function instance of its own.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { INSTANCES_MAX } from '../../shared/compare/cell/coordinates.ts';
import { partFileName } from '../../shared/compare/plan/part-file.ts';
import { type PartClock, type PlanPartOptions, runPlanPart } from '../../shared/compare/plan/plan-part.ts';
import { EXIT } from './exit.ts';
import { UsageError } from './options.ts';
import { showProgress } from './progress.ts';

/** The part that `2/4` names, counted from 0. Throws a UsageError. */
export function partFrom(text: string): PlanPartOptions['part'] {
  const [, number, count] = /^(\d{1,3})\/(\d{1,3})$/.exec(text)?.map(Number) ?? [];
  if (number !== undefined && count !== undefined && number >= 1 && number <= count && count <= INSTANCES_MAX)
    return { index: number - 1, count };
  throw new UsageError(`--part takes which of how many, at most ${INSTANCES_MAX}, such as 2/4`);
}

/** The moment that `--start` names, in milliseconds since 1970. Throws a UsageError, also for one that is over. */
export function startFrom(text: string | undefined, nowMs = Date.now()): number {
  const startMs = text === undefined ? NaN : Date.parse(text);
  if (startMs > nowMs) return startMs;
  const wrong = text === undefined ? 'is missing' : `is ${Number.isNaN(startMs) ? 'no time' : 'over'}: ${text}`;
  throw new UsageError(
    `--start ${wrong}; all parts of a comparison take the same time to come, such as ${exampleTime(nowMs)}`,
  );
}

const CLOCK: PartClock = {
  wallMs: () => Date.now(),
  watch: async (ms, signal) => {
    await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  },
};

export interface PartOptions extends Omit<PlanPartOptions, 'clock' | 'onEvent'> {
  readonly outDir: string;
  readonly log: (line: string) => void;
}

/** Writes the part's file, and resolves to the exit code. */
export async function runPart({ outDir, log, ...options }: PartOptions): Promise<number> {
  const part = await runPlanPart({ ...options, clock: CLOCK, onEvent: showProgress() });
  const file = path.join(outDir, partFileName(part));
  await mkdir(outDir, { recursive: true });
  await writeFile(file, `${JSON.stringify(part)}\n`);
  log(`wrote ${path.relative(process.cwd(), file)}: give it to stowage merge with those of the other parts`);
  if (options.signal.aborted) return EXIT.interrupted;
  return part.failures.length > 0 || part.runs.length === 0 || part.endedEarly !== null ? EXIT.failed : EXIT.ok;
}

function exampleTime(nowMs: number): string {
  const soon = new Date(nowMs + 180_000).toISOString();
  return `${soon.slice(0, 16)}:00Z`;
}
