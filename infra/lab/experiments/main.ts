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
import { chaptersHtml } from '../../../shared/lab/report/chapters/html.ts';
import { chaptersText } from '../../../shared/lab/report/chapters/text.ts';
import { chaptersReport, isWhole } from '../../../shared/lab/report/chapters/schema.ts';
import { runExperiments } from './runner.ts';

const IDS = EXPERIMENTS.map(({ id }) => id).join(',');

/** Serializers of documents A and D, beside the packages of every comparison. */
const PACKAGES = ['cbor-x', 'bson', 'yaml', 'js-yaml', 'papaparse'];

const LEAD = [
  'Between 2007 and 2011 five documents measured how to serialize, how to batch, few large or many small, and what a dollar buys. Here the same questions with the same inputs, then beside now.',
  'Then were services, computers and languages of their day; now are emulators on one machine. So only ratios are compared: each variant against its own document’s baseline, then and now apart. The figures themselves stand below them in small type.',
];

const NOTES = [
  'A ratio is a row’s mean over its baseline’s, within one column. Ratios of then and of now may be set beside each other; times and rates may not.',
  'Bars show the ratios on a logarithmic scale of their own for each table; the line is the baseline. Of several runs the lowest and the highest stand below the mean.',
  'Where a variant of then does not exist any more, the row names what was measured now in its place.',
  'A column marked "model" is calculated from a model of a cloud, not measured.',
];

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
  const report = chaptersReport({
    title: 'five documents run again',
    lead: LEAD,
    ran: {
      startedAt,
      durationMs: performance.now() - startedMs,
      coordinator: machine(),
      versions: await versions(ROOT, PACKAGES),
    },
    endedEarly: stop.signal.aborted ? (stop.signal.reason as Error).message : null,
    results,
    notes: NOTES,
  });
  const files = await writeFiles(report, path.resolve(out, 'experiments'), chaptersHtml);
  console.log(`${chaptersText(report)}\n${files.join('\n')}`);
  return isWhole(report) ? 0 : 1;
});

function experimentsNamed(text: string): readonly Experiment[] {
  const wanted = text.split(',').map((id) => id.trim().toLowerCase());
  const unknown = wanted.find((id) => !EXPERIMENTS.some((experiment) => experiment.id === id));
  if (unknown !== undefined) throw new UsageError(`--only takes some of ${IDS}, not ${JSON.stringify(unknown)}`);
  return EXPERIMENTS.filter(({ id }) => wanted.includes(id));
}
