// Document E: requests of "5 writes + 100 reads" by one caller, ten, and more.
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import { type Measure, type Plan, rowsOf, thenColumn, type Where } from '../../columns.ts';
import { PUBLISHED } from '../../published/published.ts';
import { type Column, type Figure, figureOf, type FigureTable } from '../../results.ts';
import type { Cells, Numbers, Variant } from '../../rounds.ts';
import { getAll, putAll } from '../../text-table.ts';
import { type Opened, readAll } from './operations.ts';
import { WHERE_THEN } from './speed.ts';

const { scaling: THEN } = PUBLISHED.gae_operations_2011;
const WRITES = 5;
const READS = 100;
const LAYOUTS = { plain: 'plain SDK', store: 'this store' } as const;

export interface Crowds {
  /** Numbers of callers; the first is what the others are set against. */
  readonly callers: readonly number[];
  /** How long each crowd is let at it a round. */
  readonly windowMs: number;
}

type Layout = keyof typeof LAYOUTS;

export function throughputVariants(
  { provider, crowds, signal }: { readonly provider: Provider; readonly crowds: Crowds; readonly signal: AbortSignal },
  opened: () => Promise<Opened>,
): Variant[] {
  const request = async (layout: Layout): Promise<void> => {
    const { tables } = await opened();
    const [writes, reads] = [tables.draws.fresh(WRITES), tables.draws.page(READS)];
    if (layout === 'plain') {
      await tables.plain.insertMany(writes);
      await readAll(tables.plain, reads);
    } else {
      await putAll(tables.stored, writes, signal);
      await getAll(tables.stored, reads, signal);
    }
  };
  return (Object.keys(LAYOUTS) as Layout[]).flatMap((layout) =>
    crowds.callers.map((callers) => ({
      row: `callers-${callers}`,
      columns: [columnId(provider, layout, 'rate'), columnId(provider, layout, 'ms')],
      async run(): Promise<Numbers> {
        const { perSecond, meanMs } = await crowd(callers, crowds.windowMs, () => {
          signal.throwIfAborted();
          return request(layout);
        });
        return { [columnId(provider, layout, 'rate')]: perSecond, [columnId(provider, layout, 'ms')]: meanMs };
      },
    })),
  );
}

function columnId(provider: Provider, layout: Layout, suffix: string): string {
  return `${provider}-${layout}-${suffix}`;
}

/** So many callers in a closed loop; what is under way at the end is finished and counted, its time too. */
async function crowd(
  callers: number,
  windowMs: number,
  request: () => Promise<void>,
): Promise<{ readonly perSecond: number; readonly meanMs: number }> {
  const startedMs = performance.now();
  let count = 0;
  let totalMs = 0;
  const caller = async (): Promise<void> => {
    do {
      const sentMs = performance.now();
      await request();
      totalMs += performance.now() - sentMs;
      count += 1;
    } while (performance.now() - startedMs < windowMs);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { perSecond: (count / (performance.now() - startedMs)) * 1_000, meanMs: totalMs / count };
}

const RATE: Measure = { suffix: 'rate', measure: 'requests a second', unit: 'requests/s', better: 'higher' };
const LATENCY: Measure = { suffix: 'ms', measure: 'time of a request', unit: 'ms', better: 'lower' };

export function throughputTables(cells: Cells, where: Where, { callers, windowMs }: Crowds): FigureTable[] {
  const plans = callers.map((count) => planOf(count, callers));
  const instances: Plan = {
    id: 'instances',
    name: '10 instances: 16,000 requests in 3 minutes',
    against: plans[0]!.id,
    printed: { rate: figureOf([THEN.ten_instances.requests / THEN.ten_instances.seconds]) },
  };
  const about = `A request writes ${WRITES} new records together and reads a page of ${READS} neighbours together, by so many callers, each waiting for its answer, for ${windowMs} ms a round. A caller of now is a loop in one process, not a thread.`;
  const table = (measure: Measure, title: string, rows: readonly Plan[]): FigureTable => {
    const columns = [thenColumn(measure, WHERE_THEN), ...columnsOf(measure, where)];
    return { id: `throughput-${measure.suffix}`, title, about, columns, rows: rowsOf(rows, columns, cells) };
  };
  return [
    table(RATE, 'Throughput against callers', [...plans, instances]),
    { ...table(LATENCY, 'Time of a request against callers', plans), charted: [] },
  ];
}

function planOf(count: number, callers: readonly number[]): Plan {
  const id = `callers-${count}`;
  const plan: Plan = { id, name: count === 1 ? '1 thread' : `${count} threads`, against: `callers-${callers[0]}` };
  const at = THEN.threads.indexOf(count);
  if (at === -1) return plan;
  const printed: Record<string, Figure> = {
    rate: figureOf([THEN.requests_per_second[at]!]),
    ms: figureOf([THEN.request_ms[at]!]),
  };
  return { ...plan, printed };
}

function columnsOf({ suffix, ...measure }: Measure, where: Where): Column[] {
  return (Object.entries(where) as [Provider, string][]).flatMap(([provider, name]) =>
    (Object.entries(LAYOUTS) as [Layout, string][]).map(([layout, what]) => ({
      ...measure,
      id: columnId(provider, layout, suffix),
      era: 'now' as const,
      where: `${name}, ${what}`,
    })),
  );
}
