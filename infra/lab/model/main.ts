// `npm run model`: what the layouts do on modelled clouds, in virtual time.
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { PlayedRow } from '../../../shared/lab/report/modelled/goals.ts';
import { type PlannedRow, rowsOf } from '../../../shared/lab/plan/modelled/plan.ts';
import { chaptersHtml } from '../../../shared/lab/report/chapters/html.ts';
import { chaptersText } from '../../../shared/lab/report/chapters/text.ts';
import { makeFolder } from '../../cli/folder.ts';
import { untilInterrupted } from '../../cli/interrupt.ts';
import { command, type CommandLine, runCommand, UsageError, wholeNumber } from '../../cli/options.ts';
import { writeFiles } from '../../cli/report-files.ts';
import { modelReport } from '../../../shared/lab/report/modelled/report.ts';
import { writeBands } from './bands.ts';
import { acceptGuard, checkGuard } from './guard.ts';
import { readPlan, settingsOf } from './options.ts';
import { runCells } from './workers.ts';

const SEED_MAX = 0xffff_ffff;
const WORKERS_MAX = 64;

const MODEL = command({
  name: 'npm run model --',
  about: `A MODEL of the clouds, no measurement: this store's engine and the plain layouts on modelled providers, in virtual time. The same seed
gives the same figures on any machine.`,
  options: {
    plan: {
      value: 'NAME|FILE',
      default: 'default',
      help: 'default, goals, guard, rows (the worst ones), drawn (200 rows by the seed), or a JSON file',
    },
    seed: { value: 'N', default: '1', help: 'everything random follows from it' },
    set: {
      value: 'NAME=VALUE,...',
      help: "parameters of the providers: a number, low, middle or high; datastore:NAME for one's own",
    },
    'no-processor': { help: 'operations cost no processor time' },
    only: { value: 'WORDS', help: 'only rows whose provider, group and case have all these words' },
    workers: {
      value: 'N',
      default: String(availableParallelism()),
      help: 'threads; they change the time it takes and nothing else',
    },
    check: {
      help: 'plays the plan guard, with nothing else set, and fails if a figure is not as it is kept in infra/lab/model/guard.tsv',
    },
    accept: { help: 'as --check, and keeps the figures as they are now' },
    bands: {
      help: 'plays the plan bands, with nothing else set, and keeps its table in infra/lab/model/bands.txt and README.md',
    },
    out: { value: 'DIR', default: 'report', help: 'where model.json and model.html go' },
  },
  examples: [
    'npm run model -- --plan goals',
    'npm run model -- --only "datastore 16 x 4 put" --set commit.baseMs=high',
  ],
});

await runCommand(MODEL, process.argv.slice(2), (given) => untilInterrupted((signal) => model(given, signal)));

async function model({ values }: CommandLine<typeof MODEL.options>, signal: AbortSignal): Promise<void> {
  const workers = wholeNumber('--workers', values.workers, 1, WORKERS_MAX);
  if (values.check || values.accept) {
    const results = (await play(await rowsAsTheyAre('guard'), workers, signal)).flatMap((played) => played.results);
    return console.log(await (values.accept ? acceptGuard(results) : checkGuard(results)));
  }
  if (values.bands) return console.log(await writeBands(await play(await rowsAsTheyAre('bands'), workers, signal)));
  const seed = wholeNumber('--seed', values.seed, 0, SEED_MAX);
  const plan = await readPlan(values.plan, seed);
  const settings = settingsOf(values.set);
  const rows = rowsOf({ plan, seed, settings, processor: !values['no-processor'] });
  const wanted = rows.filter((row) => isWanted(row, values.only));
  if (wanted.length === 0) throw new UsageError(`no row of the plan has all of ${JSON.stringify(values.only)}`);
  await makeFolder('--out', values.out);
  const played = await play(wanted, workers, signal);
  const report = modelReport(played, { plan, seed });
  const cells = played.flatMap(({ results }) => results);
  const files = await writeFiles({ ...report, cells }, path.join(values.out, 'model'), chaptersHtml);
  console.log(
    `\n${chaptersText(report)}\n${files.map((file) => `wrote ${path.relative(process.cwd(), file)}`).join('\n')}`,
  );
}

async function rowsAsTheyAre(plan: 'guard' | 'bands'): Promise<PlannedRow[]> {
  return rowsOf({ plan: await readPlan(plan, 1), seed: 1, settings: settingsOf(undefined), processor: true });
}

async function play(rows: readonly PlannedRow[], workers: number, signal: AbortSignal): Promise<PlayedRow[]> {
  const cells = rows.flatMap((row) => row.cells);
  const begunMs = performance.now();
  const results = await runCells(cells, {
    workers,
    signal,
    onResult: ({ cell }, done) => {
      const seconds = ((performance.now() - begunMs) / 1_000).toFixed(0);
      const name = `${cell.provider} ${cell.layout} ${cell.case}`;
      console.error(`${done} of ${cells.length} cells after ${seconds} s: ${name}`);
    },
  });
  let next = 0;
  return rows.map((row) => ({ row, results: row.cells.map(() => results[next++]!) }));
}

function isWanted({ provider, group, cells }: PlannedRow, only = ''): boolean {
  const words = `${provider} ${group} ${cells[0]!.case}`;
  return only.split(' ').every((word) => words.includes(word));
}
