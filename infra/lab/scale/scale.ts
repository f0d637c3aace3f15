// `npm run scale`: how the store scales with processes and callers, in virtual time.
import { untilInterrupted } from '../../cli/interrupt.ts';
import { choice, type CommandLine, command, runCommand, UsageError, wholeNumber } from '../../cli/command-options.ts';
import { median } from '../../../shared/lab/kit/numbers.ts';
import { textTable } from '../../../shared/lab/kit/figure-format.ts';
import { AZURE_TABLES_PROFILE, DATASTORE_PROFILE, type SlowProfile } from '../../../shared/drivers/slow/profiles.ts';
import type { Layout, Played } from '../../../shared/lab/scale/play-row.ts';
import { EVEN_PROFILE, type Goal, nameOf, type Row, ROWS } from '../../../shared/lab/scale/scale-rows.ts';
import { cellOf, playCells, TIMES } from './scale-workers.ts';

const SCALE = command({
  name: 'npm run scale --',
  about: `Plays processes with callers against one table in virtual time, on a slow cloud: lognormal round trips of 6 ms.
Prints their rates with single entities, written blindly (plain) or after a read (conditional), and with containers.
It is a model: read ratios and counts, not milliseconds.`,
  options: {
    only: { value: 'WORDS', help: 'the rows whose names hold all of these words, like "4 x 32 put"' },
    cloud: {
      value: 'even|datastore|azure-tables',
      default: 'even',
      help: 'how late it answers: as above, or as that service',
    },
    seed: { value: 'N', default: '1', help: 'the first seed' },
    seeds: { value: 'N', default: '1', help: 'so many seeds of each row: medians are printed' },
    workers: { value: 'N', default: '2', help: 'so many rows at a time, on as many threads' },
    check: { help: 'the rows that have goals alone, for 13 s instead of 25; exits 1 if one is missed' },
  },
  examples: ['npm run scale -- --only "4 x 32 put" --seeds 3', 'npm run scale -- --check'],
});

const PROFILES = {
  even: EVEN_PROFILE,
  datastore: DATASTORE_PROFILE,
  'azure-tables': AZURE_TABLES_PROFILE,
} satisfies Readonly<Record<string, SlowProfile>>;
/** After this warm-up a table has nearly its final shape. */
const CHECK_TIMES = { warmUpMs: 10_000, windowMs: 3_000 };
const LAYOUTS: readonly Layout[] = ['plain', 'conditional', 'container'];
/** A goal is missed if the figure is off by more than this share; seeds differ by less. */
const TOLERANCE = 0.05;

const PER_CALL = ['requests', 'reads', 'writes', 'refused'];
const HEADER = ['row', 'layout', 'calls/s', 'of plain', ...PER_CALL, 'entities', 'p99 ms', 'slowest'];

await runCommand(SCALE, process.argv.slice(2), (given) => untilInterrupted((signal) => scale(given, signal)));

async function scale({ values }: CommandLine<typeof SCALE.options>, signal: AbortSignal): Promise<void> {
  const seed = wholeNumber('--seed', values.seed, 0, 2 ** 31);
  const seeds = wholeNumber('--seeds', values.seeds, 1, 100);
  const workers = wholeNumber('--workers', values.workers, 1, 64);
  const cloud = choice('--cloud', values.cloud, ['even', 'datastore', 'azure-tables']);
  if (values.check && cloud !== 'even') throw new UsageError('--check does not go with --cloud: its goals are of even');
  const words = (values.only ?? '').split(' ');
  const rows = ROWS.filter((row) => words.every((word) => nameOf(row).includes(word)) && (!values.check || row.goal));
  if (rows.length === 0) throw new UsageError(`no row has all of ${JSON.stringify(values.only)} in its name`);
  const layouts = values.check ? LAYOUTS.filter((layout) => layout !== 'conditional') : LAYOUTS;
  const times = values.check ? CHECK_TIMES : TIMES;
  const cells = rows.flatMap((row) =>
    layouts.flatMap((layout) =>
      Array.from({ length: seeds }, (_, at) =>
        cellOf(row, layout, { times, seed: seed + at, profile: PROFILES[cloud] }),
      ),
    ),
  );
  const played = await playCells(cells, { workers, signal });
  let at = 0;
  const results = rows.map((row) => ({
    row,
    byLayout: new Map(layouts.map((layout) => [layout, mediansOf(played.slice(at, (at += seeds)))])),
  }));
  console.log(tableOf(results));
  const missed = results.flatMap(missesOf);
  if (values.check && missed.length > 0) throw new Error(`goals are missed:\n${missed.join('\n')}`);
}

function mediansOf(played: readonly Played[]): Played {
  const names = Object.keys(played[0]!) as (keyof Played)[];
  return Object.fromEntries(names.map((name) => [name, median(played.map((one) => one[name]))])) as unknown as Played;
}

interface RowResult {
  readonly row: Row;
  readonly byLayout: ReadonlyMap<Layout, Played>;
}

function tableOf(results: readonly RowResult[]): string {
  const lines = results.flatMap(({ row, byLayout }) =>
    [...byLayout].map(([layout, one]) => {
      const ofPlain = one.perSecond / byLayout.get('plain')!.perSecond;
      const perCall = [ofPlain, one.requests, one.reads, one.writes, one.conflicts].map((value) => value.toFixed(2));
      const whole = [one.entities, one.p99Ms].map((value) => value.toFixed(0));
      const name = layout === 'plain' ? nameOf(row) : '';
      return [name, layout, one.perSecond.toFixed(0), ...perCall, ...whole, one.slowestCaller.toFixed(2)];
    }),
  );
  const words =
    'Per call: requests, entities read and written as billed, refused commits. Slowest: the calls of the slowest caller, of the mean.';
  return `${textTable(HEADER, lines, 2)}\n\n${words}`;
}

function missesOf({ row, byLayout }: RowResult): string[] {
  if (row.goal === undefined) return [];
  const container = byLayout.get('container')!;
  const reached: Goal = { ...container, rate: container.perSecond / byLayout.get('plain')!.perSecond };
  return (Object.keys(row.goal) as (keyof Goal)[]).flatMap((name) => {
    const [is, asked] = [reached[name], row.goal![name]];
    const isMissed = name === 'rate' ? is < asked * (1 - TOLERANCE) : is > asked * (1 + TOLERANCE);
    return isMissed ? [`${nameOf(row)}: ${name} ${is.toFixed(2)}, asked ${asked}`] : [];
  });
}
