// `stowage doctor`: tries an account or an emulator, and writes a report to attach to an issue.
import { writeFile } from 'node:fs/promises';
import { ADDRESS_HELP } from '../data/address.ts';
import { EXIT } from '../exit.ts';
import { exitCodeOf } from '../interrupt.ts';
import {
  command,
  type CommandLine,
  runCommand,
  type RunnableCommand,
  UsageError,
  wholeNumber,
} from '../command-options.ts';
import { say, sayLines, warn } from '../print.ts';
import { askTool } from '../external-tools.ts';
import { examine } from './examine.ts';
import { placeAt } from './cloud-places.ts';
import type { Recording } from './recording.ts';
import { examinationText } from './text.ts';

/** Enough for a p99. */
const REQUESTS = 100;

const DOCTOR = command({
  name: 'stowage doctor',
  about: `Tries a project or account in a table or kind of its own, which it removes at the end: what the credentials may do, how the
clocks differ, every promise of the driver contract, and how long requests take; each over the drivers' own requests and
over the cloud's own client (@google-cloud/datastore or @azure/data-tables, which must be installed).
It takes some minutes and some ten thousand billed operations. Exit codes: 0 every promise holds, 1 one is broken or something is left.
A PLACE is gcp://PROJECT[/DATABASE][?namespace=..] or azure://ACCOUNT; credentials and emulators as for other commands:
${ADDRESS_HELP}`,
  options: {
    on: { value: 'PLACE', help: 'what is tried; it must be given' },
    out: {
      value: 'FILE',
      default: 'doctor.json',
      help: 'the report; it holds no secret, and --network of npm run bench reads it',
    },
    record: { value: 'FILE', help: "also keeps requests and replies of the drivers' own transport, for their tests" },
    requests: { value: 'N', default: String(REQUESTS), help: 'timed requests of each kind' },
  },
  examples: ['stowage doctor --on gcp://my-project/stowage-prod', 'stowage doctor --on azure://myaccount'],
});

export const doctorCommand: RunnableCommand = {
  declared: DOCTOR,
  run: (args) => runCommand(DOCTOR, args, (line) => exitCodeOf((signal) => run(line, signal))),
};

async function run({ values }: CommandLine<typeof DOCTOR.options>, signal: AbortSignal): Promise<number> {
  const requests = wholeNumber('--requests', values.requests, 1);
  if (values.on === undefined) throw new UsageError('--on is missing: gcp://PROJECT/DATABASE or azure://ACCOUNT');
  const place = await placeAt('--on', values.on, { ask: askTool, env: process.env });
  const onLeft = (what: string): void =>
    warn(place.withoutSecrets(`Not removed; what was written, if anything, is left in ${what}`));
  const { record } = values;
  const onRecorded = (recording: Recording): Promise<void> =>
    writeFile(record!, place.withoutSecrets(`${JSON.stringify(recording, null, 2)}\n`));
  const recorded = record === undefined ? {} : { onRecorded };
  const examination = await examine(place, { requests, signal, onStep: warn, onLeft, ...recorded });
  await writeFile(values.out, place.withoutSecrets(`${JSON.stringify(examination, null, 2)}\n`));
  sayLines(place.withoutSecrets(examinationText(examination)));
  say(`wrote ${values.out}`);
  return examination.broken.length === 0 && examination.left === null ? EXIT.ok : EXIT.failed;
}
