// Plans of documents that are lists of ways (B, C and E): each row names its way, and the printed
// figures.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { dollarsPerMillionRecords, operationPriceList } from '../../../shared/lab/cost/operations.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import type { ExperimentContext } from './experiment.ts';
import { type Column, type Figure, type FigureTable, type Row } from '../../../shared/lab/report/chapters/schema.ts';
import { alternatingRuns, type Cells, type Numbers, type Variant } from './rounds.ts';
import { type Cost, Site, type TableSize } from './sites.ts';
import type { Way } from './ways.ts';

export const PRICES = operationPriceList(PRICES_2026_11);

export interface PlannedRow extends Omit<Row, 'figures'> {
  /** Figures of then, by suffix. */
  readonly printed?: Readonly<Record<string, Figure>>;
  /** The way measured now, on all providers or on each; else the reason for none. */
  readonly way: Way | string | ((provider: Provider) => Way | string);
  /** Times are those of so many records. */
  readonly per: number;
}

export interface DocumentPlan extends TableSize {
  /** The document's own comes first. */
  readonly providers: readonly Provider[];
  readonly rounds: number;
  /** Which table a row uses: of its own in each round, of its own, or one for all. */
  readonly tables: 'each run' | 'each row' | 'one';
  readonly rows: readonly PlannedRow[];
}

/** Undefined, with the reason, where the provider has no way to do it. */
function wayOf({ way }: PlannedRow, provider: Provider): Way | string {
  return typeof way === 'function' ? way(provider) : way;
}

/** The table's name: of letters and digits alone, as Azure demands. */
function tableOf({ tables }: DocumentPlan, { id }: PlannedRow, round: number): string {
  const row = id.replaceAll(/\W|_/g, '');
  return tables === 'one' ? 'all' : tables === 'each row' ? row : `${row}${round}`;
}

export interface Measured {
  readonly cells: Cells;
  /** Names of the emulators. */
  readonly where: Readonly<Record<Provider, string>>;
}

/**
 * Every row on every provider, in alternating rounds; a provider whose emulator does not start
 * fails in all of its rows.
 */
export async function measureRows(plan: DocumentPlan, context: ExperimentContext): Promise<Measured> {
  const sites = { datastore: new Site('datastore', context), 'azure-tables': new Site('azure-tables', context) };
  try {
    const variants = plan.providers.flatMap((provider) =>
      plan.rows.flatMap((row) => {
        const way = wayOf(row, provider);
        return typeof way === 'string' ? [] : variantOf(plan, row, { provider, way, site: sites[provider] });
      }),
    );
    const cells = await alternatingRuns(context, plan, variants);
    const where = { datastore: await sites.datastore.where(), 'azure-tables': await sites['azure-tables'].where() };
    return { cells, where };
  } finally {
    await Promise.all(Object.values(sites).map((site) => site.close()));
  }
}

interface Target {
  readonly provider: Provider;
  readonly way: Way;
  readonly site: Site;
}

function variantOf(plan: DocumentPlan, row: PlannedRow, { provider, way, site }: Target): Variant {
  return {
    row: row.id,
    columns: SUFFIXES.map((suffix) => `${provider}-${suffix}`),
    async run(round, signal) {
      const name = tableOf(plan, row, round);
      const cost = await site.measure(way, name, plan, signal);
      if (plan.tables === 'each run') await site.drop(way.client, name, signal);
      const numbers = Object.entries(numbersOf(provider, way.records, cost, row.per));
      return Object.fromEntries(numbers.map(([suffix, number]) => [`${provider}-${suffix}`, number]));
    },
  };
}

const SUFFIXES = ['ms', 's', 'rate', 'callMs', 'cpu', 'perDollar'] as const;

/**
 * `callMs` is the time of one call, `perDollar` the records that a dollar buys by operations alone:
 * none where nothing is billed.
 */
function numbersOf(
  provider: Provider,
  records: number,
  { wallMs, processorUs, callMs, billable }: Cost,
  per: number,
): Numbers {
  const dollars = dollarsPerMillionRecords(billable, records, PRICES.providers[provider]);
  const pieces = records / per;
  return {
    ...timesOf(wallMs / pieces, per),
    callMs,
    cpu: processorUs / 1_000 / pieces,
    ...(dollars > 0 ? { perDollar: 1_000_000 / dollars } : {}),
  };
}

/** The time of these records, by suffix. */
function timesOf(ms: number, records: number): Numbers {
  return { ms, s: ms / 1_000, rate: (records / ms) * 1_000 };
}

/** A measure of a table, and the end of its columns' ids. */
export interface Measure extends Pick<Column, 'measure' | 'unit' | 'better'> {
  readonly suffix: string;
}

export interface TablePlan extends Omit<FigureTable, 'columns' | 'rows'> {
  readonly providers: readonly Provider[];
  /** The place of then. */
  readonly whereThen: string;
  readonly measures: readonly Measure[];
  readonly rows: readonly PlannedRow[];
}

/** A table of these rows: for each measure then, and now on each provider. */
export function figureTable(plan: TablePlan, { cells, where }: Measured): FigureTable {
  const { providers, whereThen, measures, rows, ...table } = plan;
  const columns = measures.flatMap(({ suffix, ...measure }): Column[] => [
    { ...measure, id: `then-${suffix}`, era: 'then', where: whereThen },
    ...providers.map((provider) => ({
      ...measure,
      id: `${provider}-${suffix}`,
      era: 'now' as const,
      where: where[provider],
    })),
  ]);
  return { ...table, columns, rows: rows.map((row) => rowOf(row, plan, columns, cells)) };
}

function rowOf(planned: PlannedRow, { providers }: TablePlan, columns: readonly Column[], cells: Cells): Row {
  const { printed = {}, way: _way, per: _per, ...row } = planned;
  const figures = columns.flatMap(({ id, era }): [string, Figure][] => {
    const figure = era === 'then' ? printed[id.replace('then-', '')] : cells.get(row.id)?.[id];
    if (figure !== undefined) return [[id, figure]];
    const provider = providers.find((one) => id.startsWith(one));
    const way = provider === undefined ? undefined : wayOf(planned, provider);
    return typeof way === 'string' ? [[id, { missing: way }]] : [];
  });
  return { ...row, figures: Object.fromEntries(figures) };
}
