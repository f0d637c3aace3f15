// Document E: how many records an operation handles in half a second, how many in a request of then, and how many one request takes at all.
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import { type Measure, nowColumns, type Plan, rowsOf, thenColumn, type Where } from '../../columns.ts';
import { PUBLISHED } from '../../published/published.ts';
import { figureOf, type FigureTable } from '../../results.ts';
import type { Cells, Variant } from '../../rounds.ts';
import { type Opened, type Operation, OPERATIONS, type OperationThen, readAll } from './operations.ts';
import { AGAINST, NAMES, WHERE_THEN } from './speed.ts';

const THEN = PUBLISHED.gae_operations_2011;
/** "Comfortable", for a request with a visitor who waits. */
const COMFORTABLE_MS = 500;
/** How long App Engine let a request run then; the document's technical maxima are what fits into it. */
const REQUEST_MS = 30_000;
const FIRST_TRIED = 100;
/** The search ends here even if half a second is not used up. */
const TRIED_MAX = 102_400;

export function maximumVariants(provider: Provider, opened: () => Promise<Opened>): Variant[] {
  return OPERATIONS.map((name) => ({
    row: name,
    columns: [`${provider}-comfortable`, `${provider}-technical`],
    async run() {
      const comfortable = await recordsWithin(COMFORTABLE_MS, (await opened()).operations[name]);
      const technical = comfortable * (REQUEST_MS / COMFORTABLE_MS);
      return { [`${provider}-comfortable`]: comfortable, [`${provider}-technical`]: technical };
    },
  }));
}

/**
 * Records that one operation handles in this time: their number is doubled until it takes longer, and the answer lies on the straight line
 * between the last two. At most `TRIED_MAX`.
 */
export async function recordsWithin(
  limitMs: number,
  operation: Pick<Operation, 'run'>,
  monotonicMs: () => number = () => performance.now(),
): Promise<number> {
  let fits = { records: 0, ms: 0 };
  for (let records = FIRST_TRIED; records <= TRIED_MAX; records *= 2) {
    const startedMs = monotonicMs();
    await operation.run(records);
    const ms = monotonicMs() - startedMs;
    if (ms > limitMs) return between(fits, { records, ms }, limitMs);
    fits = { records, ms };
  }
  return TRIED_MAX;
}

interface Trial {
  readonly records: number;
  readonly ms: number;
}

function between(fits: Trial, tooMany: Trial, limitMs: number): number {
  const share = (limitMs - fits.ms) / (tooMany.ms - fits.ms);
  return Math.floor(fits.records + share * (tooMany.records - fits.records));
}

export function maximumTable(cells: Cells, where: Where): FigureTable {
  const comfortable: Measure = { suffix: 'comfortable', measure: 'in 0.5 s', unit: 'records', better: 'higher' };
  const technical: Measure = { suffix: 'technical', measure: 'in 30 s', unit: 'records', better: 'higher' };
  const columns = [comfortable, technical].flatMap((measure) => [
    thenColumn(measure, WHERE_THEN),
    ...nowColumns(measure, where),
  ]);
  const plans = OPERATIONS.map((name): Plan => {
    const plan = { id: name, name: NAMES[name], against: AGAINST[name] };
    if (!(name in THEN.comfortable_in_500_ms)) return plan;
    const printed = {
      comfortable: figureOf([THEN.comfortable_in_500_ms[name as OperationThen]]),
      technical: figureOf([THEN.technical_maximum[name as OperationThen]]),
    };
    return { ...plan, printed };
  });
  return {
    id: 'maximum',
    title: 'The comfortable maximum and the technical one',
    about: `Records that one operation handles in half a second, found by doubling their number (from ${FIRST_TRIED}, at most ${TRIED_MAX.toLocaleString('en-US')}). The technical maximum of then is what a request of 30 s held; now it is projected from the rate of that half second.`,
    columns,
    rows: rowsOf(plans, columns, cells),
    charted: [],
  };
}

/** No request is tried with more. */
const REQUEST_RECORDS_MAX = 32_768;
/** The search ends when what fits and what does not are this near. */
const NEAR = 0.01;

/** The largest number that `fits` is true of, to a hundredth; all below it are taken to fit. At most `most`. */
export async function largestThat(fits: (count: number) => Promise<boolean>, most: number): Promise<number> {
  let [low, high] = [0, 1];
  while (high <= most && (await fits(high))) [low, high] = [high, high * 2];
  if (high > most) return low;
  while (high - low > Math.max(1, Math.floor(low * NEAR))) {
    const middle = Math.floor((low + high) / 2);
    if (await fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Most records in one request to the provider, by trying. */
export function requestVariants(provider: Provider, opened: () => Promise<Opened>, signal: AbortSignal): Variant[] {
  const variant = (row: string, attempt: (opened: Opened, count: number) => Promise<void>): Variant => ({
    row,
    columns: [`${provider}-most`],
    async run() {
      const all = await opened();
      const sender = all.operations.write_batch;
      const fits = async (count: number): Promise<boolean> => {
        const before = sender.spent().requests;
        try {
          await attempt(all, count);
          return sender.spent().requests === before + 1;
        } catch {
          signal.throwIfAborted();
          return false;
        }
      };
      return { [`${provider}-most`]: await largestThat(fits, REQUEST_RECORDS_MAX) };
    },
  });
  return [
    variant('write', ({ tables }, count) => tables.plain.insertMany(tables.draws.fresh(count))),
    variant('read', ({ tables }, count) => readAll(tables.plain, tables.draws.page(count))),
  ];
}

export function requestTable(cells: Cells, where: Where): FigureTable {
  const most: Measure = { suffix: 'most', measure: 'records', unit: 'records', better: 'higher' };
  const columns = nowColumns(most, where);
  const plans: Plan[] = [
    { id: 'write', name: 'one batched write', against: 'write' },
    { id: 'read', name: 'one batched read', against: 'read', marks: ['as far as there are records to read'] },
  ];
  return {
    id: 'request',
    title: 'Most records of 500 characters in one request',
    about: `Found by trying, to a hundredth, up to ${REQUEST_RECORDS_MAX.toLocaleString('en-US')}: what the emulator accepts, or answers in one piece.`,
    columns,
    rows: rowsOf(plans, columns, cells),
    charted: [],
  };
}
