// `stowage vacuum`, which can go on where an earlier one ended.
import type { Store, VacuumReport } from '../../../shared/store/index.ts';
import { EXIT } from '../exit.ts';
import { type CommandLine, positiveNumber, quoted, UsageError, wholeNumber } from '../command-options.ts';
import { erase, say, sayLines, warn } from '../print.ts';
import { progress } from '../progress.ts';
import { FROM, storeCommand } from './open-store.ts';

const DAY_SECONDS = 86_400;
const QUIET_SECONDS = 120;

const OPTIONS = {
  from: FROM,
  quiet: {
    value: 'SECONDS',
    default: String(QUIET_SECONDS),
    help: 'merges what one process at most wrote for so long',
  },
  timeout: { value: 'SECONDS', default: String(DAY_SECONDS), help: 'ends after so long with what is done by then' },
  cursor: { value: 'CURSOR', help: 'goes on where another vacuum of the table ended' },
  json: { help: 'prints the report as JSON' },
} as const;

const vacuum = storeCommand({
  name: 'stowage vacuum',
  operands: ['TABLE'],
  about: `Removes what interrupted work left behind, and merges small containers. Safe beside any other work. What is not done
when --timeout has passed, or at Ctrl-C, another command goes on with: it is printed.
Exit codes: 0 all is done, 1 some is left, or the vacuum failed.`,
  options: OPTIONS,
  examples: ['stowage vacuum users --from gcp://my-project/stowage-prod'],
  run: runVacuum,
});

async function runVacuum(
  store: Store,
  { operands: [table = ''], values }: CommandLine<typeof OPTIONS>,
  signal: AbortSignal,
): Promise<void> {
  const quietMs = 1_000 * wholeNumber('--quiet', values.quiet, 0, DAY_SECONDS);
  const timeoutMs = 1_000 * positiveNumber('--timeout', values.timeout, DAY_SECONDS);
  if (timeoutMs <= quietMs) throw new UsageError('--timeout must be longer than --quiet, which it begins with');
  const from = values.cursor === undefined ? {} : { cursor: values.cursor };
  const show = progress();
  const onProgress = (report: VacuumReport): void => show(progressText(report), report.passed / report.listed);
  const report = await store.vacuum(table, { quietMs, timeoutMs, signal, onProgress, ...from }).finally(erase);
  if (values.json) sayLines(JSON.stringify(report, null, 2));
  else say(reportText(report));
  if (report.cursor === undefined) return;
  const again = [table, '--from', values.from ?? '', '--cursor', report.cursor].map(quoted);
  warn(`Not all is done. This goes on: stowage vacuum ${again.join(' ')}`);
  process.exitCode = signal.aborted ? EXIT.interrupted : EXIT.failed;
}

function progressText({ passed, listed, merged, movedBytes }: VacuumReport): string {
  return `${passed} of ${listed} containers looked at, ${merged} merged, ${movedBytes} bytes moved`;
}

function reportText(report: VacuumReport): string {
  const { removed, left, foreign, stripped, purged, busy, damaged, entriesDropped } = report;
  const others = { removed, left, foreign, stripped, purged, busy, damaged, 'entries dropped': entriesDropped };
  const counts = Object.entries(others).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  return [progressText(report), ...counts].join(', ');
}

export const VACUUM_COMMANDS = { vacuum };
