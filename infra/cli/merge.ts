// `stowage merge`: one report of the parts that several machines left of a comparison.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { PROVIDERS } from '../../shared/compare/dimensions.ts';
import { mergePlanParts, type PartFile } from '../../shared/compare/plan/merge-plan-parts.ts';
import { planPartOf } from '../../shared/compare/plan/part-file.ts';
import { type ComparisonOptions, finishComparison } from './comparison.ts';

export interface MergeOptions extends Pick<ComparisonOptions, 'baseline' | 'outDir' | 'log'> {
  readonly files: readonly string[];
  /** What repeats the merge. */
  readonly command: string;
}

/** Resolves to the exit code. Rejects with a TypeError if none of the files holds a part, or where the report cannot be written. */
export async function mergeFiles({ files, command, ...options }: MergeOptions): Promise<number> {
  const merged = mergePlanParts(await Promise.all(files.map(partIn)));
  const { plan, outcome, providers, startAt, durationMs, lost } = merged;
  const circumstances = {
    versions: {},
    commit: null,
    command,
    providers: PROVIDERS.map((provider) => {
      const ran = providers.includes(provider);
      return { provider, ran, why: ran ? 'in parts' : 'no part of it was given' };
    }),
    ...(lost.length === 0 ? {} : { lostParts: [...lost] }),
  };
  const { signal } = new AbortController();
  return await finishComparison(
    { ...options, plan, outcome, circumstances, signal },
    { startedAt: startAt, durationMs },
  );
}

async function partIn(file: string): Promise<PartFile> {
  const name = path.basename(file);
  try {
    return { name, part: planPartOf(await readFile(file, 'utf8')) };
  } catch (error) {
    return { name, why: (error as Error).message };
  }
}
