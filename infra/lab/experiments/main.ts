// The experiments, `npm run experiments`: five documents of 2007 to 2011 run again on emulators.
import { untilInterrupted } from '../../cli/interrupt.ts';
import { command, runCommand, UsageError } from '../../cli/options.ts';
import { reportOn } from './command.ts';
import { EXPERIMENTS } from './documents/documents.ts';
import type { Experiment } from './experiment.ts';

const IDS = EXPERIMENTS.map(({ id }) => id).join(',');

/** Serializers of documents A and D, beside the packages of every comparison. */
const PACKAGES = ['cbor-x', 'bson', 'yaml', 'js-yaml', 'papaparse'];

const LEAD = [
  'Between 2007 and 2011 five documents measured how to serialize, how to batch, few large or many small, and what a dollar buys. Here the same questions with the same inputs, then beside now.',
  'Then were services, computers and languages of their day; now are emulators on one machine. So only ratios are compared: each variant against its own document’s baseline, then and now apart. The figures themselves stand below them in small type.',
];

const NOTES = [
  'A ratio is a row’s mean over its baseline’s, within one column. Ratios of then and of now may be set beside each other; times and rates may not.',
  'Of several runs the lowest and the highest stand below the mean.',
  'Where a variant of then does not exist any more, the row names what was measured now in its place.',
];

const COMMAND = command({
  name: 'npm run experiments --',
  about: `Runs five documents of 2007 to 2011 again, with the same inputs, on emulators on this machine: some minutes, and more on a busy machine.
Writes then beside now, as ratios. Exits 1 if something failed; what was measured is in the report even so.`,
  options: {
    only: { value: 'ID,..', default: IDS, help: 'which experiments, by letter' },
    out: { value: 'DIR', default: 'report', help: 'where experiments.json and experiments.html go' },
  },
  examples: ['npm run experiments', 'npm run experiments -- --only a,d'],
});

await runCommand(COMMAND, process.argv.slice(2), ({ values: { only, out } }) => {
  const chosen = experimentsNamed(only);
  const words = { title: 'five documents run again', lead: LEAD, notes: NOTES };
  return untilInterrupted((signal) =>
    reportOn(chosen, { ...words, out, name: 'experiments', packages: PACKAGES, signal }),
  );
});

function experimentsNamed(text: string): readonly Experiment[] {
  const wanted = text.split(',').map((id) => id.trim().toLowerCase());
  const unknown = wanted.find((id) => !EXPERIMENTS.some((experiment) => experiment.id === id));
  if (unknown !== undefined) throw new UsageError(`--only takes some of ${IDS}, not ${JSON.stringify(unknown)}`);
  return EXPERIMENTS.filter(({ id }) => wanted.includes(id));
}
