// The experiments, `npm run experiments`: five documents of 2007 to 2011 run again on emulators, then beside now. Exits 0 if nothing failed, else 1; the report
// holds what there is either way.
import path from 'node:path';
import { makeFolder } from '../../cli/folder.ts';
import { machine, versions } from '../../cli/machine.ts';
import { command, runCommand, UsageError } from '../../cli/options.ts';
import { writeFiles } from '../../cli/report-files.ts';
import { startAzure, startDatastore } from '../bench/providers.ts';
import { ROOT } from '../../package/bundle.ts';
import { EXPERIMENTS } from './documents/documents.ts';
import type { Experiment } from './experiment.ts';
import { PRICES } from './plan.ts';
import { experimentsHtml } from './report/html.ts';
import { experimentsText } from './report/text.ts';
import { isWhole, reportOf } from './results.ts';
import { runExperiments } from './runner.ts';

const IDS = EXPERIMENTS.map(({ id }) => id).join(',');

/** Serializers of documents A and D, beside the packages of every comparison. */
const PACKAGES = ['cbor-x', 'bson', 'yaml', 'js-yaml', 'papaparse'];

const COMMAND = command({
  name: 'npm run experiments --',
  about: `Runs five documents of 2007 to 2011 again, with the same inputs, on emulators on this machine: some minutes, and more on a busy machine.
Writes then beside now, as ratios. Exits 1 if something failed or ended it early; what was measured is in the report even so.`,
  options: {
    only: { value: 'ID,..', default: IDS, help: 'which experiments, by letter' },
    out: { value: 'DIR', default: 'report', help: 'where experiments.json and experiments.html go' },
  },
  examples: ['npm run experiments', 'npm run experiments -- --only a,d'],
});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => stop.abort(new Error(`ended by ${signal}`)));

await runCommand(COMMAND, process.argv.slice(2), async ({ values: { only, out } }) => {
  const chosen = experimentsNamed(only);
  await makeFolder('--out', out);
  const startedAt = new Date().toISOString();
  const startedMs = performance.now();
  const results = await runExperiments(chosen, {
    start: { datastore: startDatastore, 'azure-tables': startAzure },
    log: (line) => console.error(line),
    signal: stop.signal,
  });
  const report = reportOf({
    startedAt,
    durationMs: performance.now() - startedMs,
    coordinator: machine(),
    versions: await versions(ROOT, PACKAGES),
    prices: PRICES,
    endedEarly: stop.signal.aborted ? (stop.signal.reason as Error).message : null,
    results,
  });
  const files = await writeFiles(report, path.resolve(out, 'experiments'), experimentsHtml);
  console.log(`${experimentsText(report)}\n${files.join('\n')}`);
  return isWhole(report) ? 0 : 1;
});

function experimentsNamed(text: string): readonly Experiment[] {
  const wanted = text.split(',').map((id) => id.trim().toLowerCase());
  const unknown = wanted.find((id) => !EXPERIMENTS.some((experiment) => experiment.id === id));
  if (unknown !== undefined) throw new UsageError(`--only takes some of ${IDS}, not ${JSON.stringify(unknown)}`);
  return EXPERIMENTS.filter(({ id }) => wanted.includes(id));
}
