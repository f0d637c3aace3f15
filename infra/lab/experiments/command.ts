// Runs experiments for a command: on emulators, to a report of what there is.
import path from 'node:path';
import { chaptersReport, type ChaptersReport, isWhole } from '../../../shared/lab/report/chapters/schema.ts';
import { chaptersHtml } from '../../../shared/lab/report/chapters/html.ts';
import { chaptersText } from '../../../shared/lab/report/chapters/text.ts';
import { makeFolder } from '../../cli/folder.ts';
import { machine, versions } from '../../cli/machine.ts';
import { writeFiles } from '../../cli/report-files.ts';
import { ROOT } from '../../package/bundle.ts';
import { startAzure, startDatastore } from '../providers.ts';
import type { Experiment } from './experiment.ts';
import { runExperiments } from './runner.ts';

export interface ReportOptions extends Pick<ChaptersReport, 'title' | 'lead' | 'notes'> {
  /** Folder of the report, and its name there, without an ending. */
  readonly out: string;
  readonly name: string;
  /** Packages whose versions it tells, beside those of every comparison. */
  readonly packages?: readonly string[];
  readonly signal: AbortSignal;
}

/** Gives the exit code: 1 if something failed. Rejects with the signal's reason. */
export async function reportOn(
  experiments: readonly Experiment[],
  { out, name, packages, signal, ...words }: ReportOptions,
): Promise<number> {
  await makeFolder('--out', out);
  const startedAt = new Date().toISOString();
  const startedMs = performance.now();
  const results = await runExperiments(experiments, {
    start: { datastore: startDatastore, 'azure-tables': startAzure },
    log: (line) => console.error(line),
    signal,
  });
  const durationMs = performance.now() - startedMs;
  const report = chaptersReport({
    ...words,
    ran: { startedAt, durationMs, coordinator: machine(), versions: await versions(ROOT, packages) },
    endedEarly: signal.aborted ? (signal.reason as Error).message : null,
    results,
  });
  const files = await writeFiles(report, path.resolve(out, name), chaptersHtml);
  console.log(`${chaptersText(report)}\n${files.join('\n')}`);
  signal.throwIfAborted();
  return isWhole(report) ? 0 : 1;
}
