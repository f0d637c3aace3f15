// The commands that look at what is stored, and tidy and mend it: verify, stats, inspect, repair,
// vacuum.
import { open } from 'node:fs/promises';
import type {
  ContainerInfo,
  Finding,
  PageInfo,
  Taken,
  VacuumReport,
  VerifyReport,
} from '../../../shared/store/index.ts';
import { EXIT } from '../exit.ts';
import { given, positiveNumber, quoted, UsageError, wholeNumber } from '../command-options.ts';
import { erase, say, sayLines, warn } from '../print.ts';
import { progress } from '../progress.ts';
import { FROM, storeCommand } from './open-store.ts';

const JSON_OPTION = { help: 'prints the report as JSON' };

const verify = storeCommand({
  name: 'stowage verify',
  about: `Reads everything that is stored of a table, and says what is damaged, missing or misplaced. Writes nothing.
Exit codes: 0 nothing is wrong, 1 there are findings, or the table could not be read.`,
  options: { from: FROM, json: JSON_OPTION },
  async run(store, { operands: [table = ''], values }, signal) {
    const onFinding = values.json ? {} : { onFinding: (finding: Finding) => say(findingText(finding)) };
    const report = await store.verify(table, { signal, ...onFinding });
    sayLines(values.json ? JSON.stringify(report, null, 2) : `${countsText(report)}\n${verdictText(report)}`);
    if (report.findingCount > 0) process.exitCode = EXIT.failed;
  },
});

const stats = storeCommand({
  name: 'stowage stats',
  about: `Reads a table and counts its containers by level, records and bytes; as costly as verify.`,
  options: { from: FROM, json: JSON_OPTION },
  async run(store, { operands: [table = ''], values }, signal) {
    const { findings, ...report } = await store.verify(table, { signal });
    sayLines(values.json ? JSON.stringify(report, null, 2) : statsText({ findings, ...report }));
  },
});

const inspect = storeCommand({
  name: 'stowage inspect',
  about: `Shows one container as it is stored: the root, the one named, or the leaf that owns a key. Writes nothing.`,
  options: {
    from: FROM,
    container: { value: 'ID', help: 'its id, as verify and errors name it' },
    key: { value: 'KEY', help: 'takes the leaf that owns the key' },
    json: JSON_OPTION,
  },
  examples: ['stowage inspect users --key user:1 --from gcp://my-project/stowage-prod'],
  async run(store, { operands: [table = ''], values }, signal) {
    const { container, key } = values;
    if (container !== undefined && key !== undefined) throw new UsageError('give --container or --key, not both');
    const info = await store.inspect(table, given({ signal, container, key }));
    if (values.json) sayLines(JSON.stringify(info, null, 2));
    else for (const line of infoLines(info)) say(line);
  },
});

const repair = storeCommand({
  name: 'stowage repair',
  about: `Mends what verify finds. Keeps the records of readable pages; what it takes away it writes to a file first: NDJSON, a
line per container, with its stored parts in base64 and what is lost. Run it again after an interruption.
Exit codes: 0 nothing is wrong any more, 1 something is, or the repair failed.`,
  options: {
    from: FROM,
    save: { value: 'FILE', help: 'gets what is taken away, appended; it must be given' },
    'dry-run': { help: 'says what would be taken away, writes nothing' },
  },
  goesOn: true,
  examples: ['stowage repair users --from gcp://my-project/stowage-prod --save users.taken.ndjson'],
  async run(store, { operands: [table = ''], values }, signal) {
    const { save: file, 'dry-run': dryRun } = values;
    if (file === undefined && !dryRun) throw new UsageError('--save is missing: the file that gets what is taken away');
    const save = async (taken: Taken): Promise<void> => {
      say(takenText(taken));
      if (!dryRun) await appendTaken(file!, taken);
    };
    const { mended, verified } = await store.repair(table, { save, dryRun, signal });
    say(`${mended} containers ${dryRun ? 'would be' : 'were'} mended. ${countsText(verified)}`);
    for (const finding of dryRun ? [] : verified.findings) say(findingText(finding));
    say(verdictText(verified));
    if (verified.findingCount > 0) process.exitCode = EXIT.failed;
  },
});

const DAY_SECONDS = 86_400;

const vacuum = storeCommand({
  name: 'stowage vacuum',
  about: `Removes what interrupted work left behind, and merges small containers. Safe beside any other work. What is not done
when --timeout has passed, or at Ctrl-C, another command goes on with: it is printed.
Exit codes: 0 all is done, 1 some is left, or the vacuum failed.`,
  options: {
    from: FROM,
    quiet: { value: 'SECONDS', default: '120', help: 'merges what one process at most wrote for so long' },
    timeout: { value: 'SECONDS', default: String(DAY_SECONDS), help: 'ends after so long with what is done by then' },
    cursor: { value: 'CURSOR', help: 'goes on where another vacuum of the table ended' },
    json: JSON_OPTION,
  },
  async run(store, { operands: [table = ''], values }, signal) {
    const quietMs = 1_000 * wholeNumber('--quiet', values.quiet, 0, DAY_SECONDS);
    const timeoutMs = 1_000 * positiveNumber('--timeout', values.timeout, DAY_SECONDS);
    if (timeoutMs <= quietMs) throw new UsageError('--timeout must be longer than --quiet, which it begins with');
    const show = progress();
    const onProgress = (report: VacuumReport): void => show(vacuumText(report), report.passed / report.listed);
    const options = given({ quietMs, timeoutMs, signal, onProgress, cursor: values.cursor });
    const report = await store.vacuum(table, options).finally(erase);
    if (values.json) sayLines(JSON.stringify(report, null, 2));
    else say(vacuumReportText(report));
    const { cursor } = report;
    if (cursor === undefined) return;
    const again = [table, '--from', values.from ?? '', '--cursor', cursor].map(quoted);
    warn(`Not all is done. This goes on: stowage vacuum ${again.join(' ')}`);
    process.exitCode = signal.aborted ? EXIT.interrupted : EXIT.failed;
  },
});

function vacuumText({ passed, listed, merged, movedBytes }: VacuumReport): string {
  return `${passed} of ${listed} containers looked at, ${merged} merged, ${movedBytes} bytes moved`;
}

function vacuumReportText(report: VacuumReport): string {
  const { removed, left, foreign, stripped, purged, busy, damaged, entriesDropped } = report;
  const others = { removed, left, foreign, stripped, purged, busy, damaged, 'entries dropped': entriesDropped };
  const counts = Object.entries(others).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  return [vacuumText(report), ...counts].join(', ');
}

function countsText({ records, pages, containers, branches, bytes, unlinked }: VerifyReport): string {
  const linked = unlinked === 0 ? '' : `; ${unlinked} containers are linked by none: a vacuum judges them`;
  return `${records} records in ${pages} pages of ${containers} containers (${branches} branches), ${bytes} bytes${linked}`;
}

function verdictText({ findingCount }: VerifyReport): string {
  return findingCount === 0 ? 'Nothing is wrong.' : `${findingCount} findings.`;
}

function findingText({ kind, container, page, key, from, to, message }: Finding): string {
  const place = [container, page !== undefined && `page ${page}`, key !== undefined && `key ${JSON.stringify(key)}`];
  return `${kind}: ${place.filter(Boolean).join(', ')}: ${message} (${stretchText({ from, to })})`;
}

function stretchText({ from, to }: { readonly from: string; readonly to: string | undefined }): string {
  return `from ${JSON.stringify(from)} to ${to === undefined ? 'the end' : JSON.stringify(to)}`;
}

function statsText(report: VerifyReport): string {
  const levels = report.levels.map(
    ({ level, containers, pages, bytes }) =>
      `level ${level}${level === 0 ? ' (leaves)' : ''}: ${containers} containers, ${pages} pages, ${bytes} bytes`,
  );
  const fill = `leaves are ${(100 * report.fill).toFixed(1)} % full`;
  const made = `containers were made from ${timeText(report.oldestMs)} to ${timeText(report.newestMs)}`;
  const wrong = report.findingCount === 0 ? [] : [`${report.findingCount} findings: see stowage verify`];
  return [countsText(report), ...levels, fill, made, ...wrong].join('\n');
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? 'unknown' : new Date(ms).toISOString();
}

function infoLines({ container, version, parts, header, damage, pages }: ContainerInfo): string[] {
  const sizes = Object.entries(parts).map(([name, bytes]) => `${name} ${bytes}`);
  const stored = [`${container} at version ${version}`, `stored bytes: ${sizes.join(', ')}`];
  if (header === undefined) return [...stored, `the header cannot be read: ${damage}`];
  const { keptUntilMs, right, ...fields } = header;
  return [
    ...stored,
    `${header.state}, level ${header.level}, order ${header.order}, ${stretchText(fields)}, ${right === undefined ? 'the last' : `then ${right}`}`,
    `commit ${header.commitCount} (${header.lastCommit}), next number ${header.nextNumber}, made ${timeText(header.createdAtMs)}`,
    ...(header.origin === undefined ? [] : [`split off ${header.origin.id} at version ${header.origin.version}`]),
    ...(keptUntilMs === undefined ? [] : [`a vacuum removes it after ${timeText(keptUntilMs)}`]),
    ...pages.map(pageText),
  ];
}

function pageText(page: PageInfo): string {
  const { slot, layer, bytes, compression, records, expired, tombstones, damage } = page;
  const where = `page ${slot}, ${layer === 0 ? 'base' : `layer ${layer}`}: ${bytes} bytes (${compression})`;
  const dead = damage === undefined ? `${expired} expired, ${tombstones} deletions` : `cannot be read: ${damage}`;
  return `${where}, ${records} records, ${dead}, ${stretchText(page)}`;
}

function takenText({ container, parts, lost, lostKeys, olderKeys }: Taken): string {
  const held = `${Object.keys(parts).length} stored parts`;
  const stretches = lost.map((stretch) => `records may be lost ${stretchText(stretch)}`);
  const keys = lostKeys.length === 0 ? [] : [`lost: ${lostKeys.map((key) => JSON.stringify(key)).join(', ')}`];
  const older = olderKeys.length === 0 ? [] : [`${olderKeys.length} records may be older ones`];
  return `${container}: ${[held, ...stretches, ...keys, ...older].join('; ')}`;
}

/** Resolves once the file is on the disk. */
async function appendTaken(file: string, { parts, ...taken }: Taken): Promise<void> {
  const named = Object.entries(parts).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]);
  await using handle = await open(file, 'a');
  await handle.appendFile(`${JSON.stringify({ ...taken, parts: Object.fromEntries(named) })}\n`);
  await handle.datasync();
}

export const LOOK_COMMANDS = { verify, stats, inspect, repair, vacuum };
