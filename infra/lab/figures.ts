// `npm run figures`: writes README's table from the report of the last `npm start`, and that of
// shared/lab/README.md from six rows of `npm run scale`, which it plays. Both stand between marks.
import { readFile, writeFile } from 'node:fs/promises';
import { untilInterrupted } from '../cli/interrupt.ts';
import { command, refusing, runCommand } from '../cli/command-options.ts';
import { readReport } from '../cli/report-files.ts';
import { median } from '../../shared/lab/kit/numbers.ts';
import type { Ratio } from '../../shared/lab/kit/figure.ts';
import { chosenFor, timesText } from '../../shared/lab/report/sentences.ts';
import { recordWords, WORKLOAD_WORDS } from '../../shared/lab/report/names.ts';
import type { Comparison, Report } from '../../shared/lab/report/report-schema.ts';
import { whereWords } from '../../shared/lab/report/warnings.ts';
import { PROVIDERS } from '../../shared/lab/kit/dimensions.ts';
import type { Played } from '../../shared/lab/scale/play-row.ts';
import { EVEN_PROFILE, nameOf, type Row, ROWS } from '../../shared/lab/scale/scale-rows.ts';
import { cellOf, playCells, TIMES } from './scale/scale-workers.ts';

const README = new URL('../../README.md', import.meta.url);
const LABORATORY = new URL('../../shared/lab/README.md', import.meta.url);
const MARKED = /(<!-- npm run figures writes from here -->\n)[^]*(<!-- to here -->)/;
const SEEDS = [1, 2, 3];

/** One busy process, few, many, and skewed ones. */
const SHOWN = [
  '1 x 64 put, 500 records',
  '1 x 64 put, 20,000 records',
  '4 x 32 put, 500 records',
  '4 x 32 put, 20,000 records',
  '64 x 1 put, 20,000 records',
  '8 x 8 half puts, 20,000 records, zipfian',
];

const FIGURES = command({
  name: 'npm run figures --',
  about:
    'Writes the tables of README.md, from the last `npm start`, and of shared/lab/README.md, from six rows of `npm run scale`, in some ten minutes.',
  options: { report: { value: 'FILE', default: 'report/compare.json', help: 'the report of the default plan' } },
  examples: ['npm start && npm run figures'],
});

await runCommand(FIGURES, process.argv.slice(2), ({ values }) =>
  untilInterrupted(async (signal) => {
    const report = await refusing('--report', () => readReport(values.report));
    await writeBetweenMarks(README, comparisonFigures(report));
    await writeBetweenMarks(LABORATORY, await scaleFigures(signal));
  }),
);

async function writeBetweenMarks(file: URL, figures: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    text.replace(MARKED, (_, from: string, to: string) => `${from}\n${figures}\n\n${to}`),
  );
  console.log(figures);
}

function comparisonFigures(report: Report): string {
  const { plan, comparisons, startedAt, coordinator } = report;
  const rows = plan.workloads.flatMap((workload) => {
    const cells = PROVIDERS.flatMap((provider) => cellsOf(chosenFor(comparisons, workload, provider)));
    return `| ${WORKLOAD_WORDS[workload].doing} | ${cells.join(' | ')} |`;
  });
  return [
    `From \`npm start\` of ${startedAt.slice(0, 10)}, ${recordWords(plan)}, medians of ${plan.repetitions} runs on ${coordinator.cores} cores. ${whereWords(report)}`,
    '',
    '| Stowage : plain SDK | Datastore: rate at callers | bill | Azure Tables: rate at callers | bill |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** `1.1 (0.93 to 1.4) at 64` and `0.028`. */
function cellsOf(one: Comparison | undefined): readonly [rate: string, bill: string] {
  if (one === undefined || one.recordsPerSecond === null) return ['-', '-'];
  const { recordsPerSecond, dollarsPerMillionRecords: dollars, isMachineLimited } = one;
  const limit = isMachineLimited ? ', the machine full' : '';
  const rate = `${ratioText(recordsPerSecond)} at ${one.callers}${limit}`;
  return [rate, dollars === null ? '-' : timesText(dollars.ratio)];
}

/** With the interval where the runs do not tell the ratio from 1. */
function ratioText({ ratio, verdict, low, high }: Ratio): string {
  if (verdict === 'drifting') return `${timesText(ratio)} (not judged, as rates drifted)`;
  return verdict === 'undecided' ? `${timesText(ratio)} (${timesText(low)} to ${timesText(high)})` : timesText(ratio);
}

async function scaleFigures(signal: AbortSignal): Promise<string> {
  const rows = SHOWN.map((name) => ROWS.find((row) => nameOf(row) === name)!);
  const cells = rows.flatMap((row) =>
    (['plain', 'container'] as const).flatMap((layout) =>
      SEEDS.map((seed) => cellOf(row, layout, { times: TIMES, seed, profile: EVEN_PROFILE })),
    ),
  );
  const played = await playCells(cells, { workers: 2, signal });
  const lines = rows.map((row, at) => lineOf(row, played.slice(at * 2 * SEEDS.length, (at + 1) * 2 * SEEDS.length)));
  return [
    '| processes x callers | rate, of an entity per record | requests, billed writes per call | entities |',
    '| --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

function of(seeds: readonly Played[], name: keyof Played): number {
  return median(seeds.map((one) => one[name]));
}

/** `played`: all seeds of `plain`, then all of the store. */
function lineOf(row: Row, played: readonly Played[]): string {
  const [plain, store] = [played.slice(0, SEEDS.length), played.slice(SEEDS.length)];
  const rate = (of(store, 'perSecond') / of(plain, 'perSecond')).toFixed(2);
  const spent = `${of(store, 'requests').toFixed(2)}, ${of(store, 'writes').toFixed(2)}`;
  return `| ${nameOf(row)} | ${rate} | ${spent} | ${of(store, 'entities').toFixed(0)} |`;
}
