// `stowage doctor`: tries an account or an emulator, and writes a report to attach to an issue.
import { writeFile } from 'node:fs/promises';
import { textTable, wrapped } from '../../../shared/lab/kit/figure-format.ts';
import { ADDRESS_HELP } from '../data/address.ts';
import { EXIT } from '../exit.ts';
import { exitCodeOf } from '../interrupt.ts';
import {
  command,
  type CommandLine,
  given,
  runCommand,
  type RunnableCommand,
  UsageError,
  wholeNumber,
} from '../command-options.ts';
import { say, sayLines, warn } from '../print.ts';
import { askTool } from '../external-tools.ts';
import { placeAt } from './cloud-places.ts';
import { type Examination, examine, type Seen } from './examine.ts';
import type { Recording } from './recording.ts';

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
  const write = (file: string, content: Recording | Examination): Promise<void> =>
    writeFile(file, place.withoutSecrets(`${JSON.stringify(content, null, 2)}\n`));
  const { record, out } = values;
  const onRecorded = record === undefined ? undefined : (recording: Recording) => write(record, recording);
  const examination = await examine(place, given({ requests, signal, onStep: warn, onLeft, onRecorded }));
  await write(out, examination);
  sayLines(place.withoutSecrets(examinationText(examination)));
  say(`wrote ${out}`);
  return examination.broken.length === 0 && examination.left === null ? EXIT.ok : EXIT.failed;
}

function examinationText(examination: Examination): string {
  const { address, isEmulator, region, clockAheadMs, transports, broken, unlike, left } = examination;
  const clock = clockAheadMs === null ? 'not told' : `${clockAheadMs} ms ahead, to half a second`;
  return [
    `${address}${isEmulator ? ' (an emulator)' : ''}`,
    `  region  ${region ?? 'not told'}`,
    `  clock   ${clock}`,
    ...transports.flatMap(seenLines),
    '',
    ...listed('Broken, so that the store would not work here as promised:', broken),
    ...listed('Otherwise than assumed, without breaking anything:', unlike),
    ...(left === null ? [] : [`Not removed; what was written, if anything, is left in ${left}`]),
    `Verdict: ${broken.length === 0 ? 'it keeps every promise that was tried' : `${broken.length} things are broken`}.`,
  ].join('\n');
}

function seenLines({ transport, refused, checks, broken, counters, latencies, commitsPerSecond }: Seen): string[] {
  const { readCalls, writeCalls, removeCalls, listCalls } = counters;
  const requests = readCalls + writeCalls + removeCalls + listCalls;
  const rights = refused.length === 0 ? 'all kinds of requests' : `no ${refused.map(({ kind }) => kind).join(', ')}`;
  const rows = Object.entries(latencies).map(([kind, { p50Ms, p90Ms, p99Ms, maxMs }]) => [
    kind,
    ...[p50Ms, p90Ms, p99Ms, maxMs].map(String),
  ]);
  const held = refused.length === 0 ? `${checks - broken.length} of ${checks} promises hold` : 'no promise was tried';
  return [
    '',
    `Transport ${transport}: it may make ${rights}; ${held}; ${requests} requests`,
    ...(rows.length === 0 ? [] : [textTable(['milliseconds', 'p50', 'p90', 'p99', 'max'], rows, 1)]),
    ...(commitsPerSecond === null
      ? []
      : [`  One entity takes ${commitsPerSecond} commits per second, one after another`]),
  ];
}

function listed(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  return [title, ...items.flatMap((item) => wrapped(`- ${item}`).map((line) => `  ${line}`)), ''];
}
