// Documents that are lists of ways (B, C and E): each row names its way, and the printed figures.
import { dollarsPerMillionRecords, operationPriceList } from '../../../shared/lab/cost/operations.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import { type Provider, PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import type { Column, Figure, FigureTable, Finding, Row } from '../../../shared/lab/report/chapters/schema.ts';
import type { Experiment } from './experiment.ts';
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

/** A measure of a table, and the end of its columns' ids. */
export interface Measure extends Pick<Column, 'measure' | 'unit' | 'better'> {
  readonly suffix: string;
}

interface TablePlan extends Omit<FigureTable, 'columns' | 'rows'> {
  readonly measures: readonly Measure[];
  /** Default: the document's. */
  readonly rows?: readonly PlannedRow[];
}

export interface DocumentPlan extends Omit<Experiment, 'run'>, TableSize {
  /** The document's own comes first. */
  readonly providers: readonly Provider[];
  /** The place of then. */
  readonly whereThen: string;
  readonly rounds: number;
  /** Which of the provider's tables a row writes to. */
  readonly rowsHave: 'a table each run' | 'a table each' | 'one table';
  readonly rows: readonly PlannedRow[];
  readonly tables: readonly TablePlan[];
  readonly cannotShow: readonly string[];
  findingsOf(tables: readonly FigureTable[]): Finding[];
}

export function documentOf(plan: DocumentPlan): Experiment {
  const { id, title, question, source, tables, cannotShow } = plan;
  return {
    id,
    title,
    question,
    source,
    /** An emulator that does not start fails in all rows of its provider. */
    run: async (context) => {
      const sites = plan.providers.map((provider) => new Site(provider, context));
      try {
        const variants = sites.flatMap((site) => variantsOn(site, plan));
        const cells = await alternatingRuns(context, plan, variants);
        const where = await Promise.all(sites.map((site) => site.where()));
        const figures = tables.map((table) => figureTable(table, plan, where, cells));
        return { tables: figures, wordTables: [], cannotShow, findings: plan.findingsOf(figures) };
      } finally {
        await Promise.all(sites.map((site) => site.close()));
      }
    },
  };
}

function wayOf({ way }: PlannedRow, provider: Provider): Way | string {
  return typeof way === 'function' ? way(provider) : way;
}

/** The table's name: of letters and digits alone, as Azure demands. */
function tableOf({ rowsHave }: DocumentPlan, { id }: PlannedRow, round: number): string {
  const row = id.replaceAll(/\W|_/g, '');
  return rowsHave === 'one table' ? 'all' : rowsHave === 'a table each' ? row : `${row}${round}`;
}

function variantsOn(site: Site, plan: DocumentPlan): Variant[] {
  return plan.rows.flatMap((row) => {
    const way = wayOf(row, site.provider);
    return typeof way === 'string' ? [] : variantOf(plan, row, way, site);
  });
}

function variantOf(plan: DocumentPlan, row: PlannedRow, way: Way, site: Site): Variant {
  const column = (suffix: string): string => `${site.provider}-${suffix}`;
  return {
    row: row.id,
    columns: SUFFIXES.map(column),
    async run(round, signal) {
      const name = tableOf(plan, row, round);
      const cost = await site.measure(way, name, plan, signal);
      if (plan.rowsHave === 'a table each run') await site.drop(way.client, name, signal);
      const numbers = Object.entries(numbersOf(site.provider, way.records, cost, row.per));
      return Object.fromEntries(numbers.map(([suffix, number]) => [column(suffix), number]));
    },
  };
}

const SUFFIXES = ['ms', 's', 'rate', 'callMs', 'cpu', 'perDollar'] as const;

/** `perDollar`: the records that a dollar buys by operations alone, where any is billed. */
function numbersOf(provider: Provider, records: number, cost: Cost, per: number): Numbers {
  const dollars = dollarsPerMillionRecords(cost.billable, records, PRICES.providers[provider]);
  const pieces = records / per;
  const ms = cost.wallMs / pieces;
  return {
    ms,
    s: ms / 1_000,
    rate: (per / ms) * 1_000,
    callMs: cost.callMs,
    cpu: cost.processorUs / 1_000 / pieces,
    ...(dollars > 0 ? { perDollar: 1_000_000 / dollars } : {}),
  };
}

function figureTable(
  { measures, rows, ...table }: TablePlan,
  { providers, whereThen, rows: allRows }: DocumentPlan,
  whereNow: readonly string[],
  cells: Cells,
): FigureTable {
  const columns = measures.flatMap(({ suffix, ...measure }): Column[] => [
    { ...measure, id: `then-${suffix}`, era: 'then', where: whereThen },
    ...providers.map((provider, at): Column => ({
      ...measure,
      id: `${provider}-${suffix}`,
      era: 'now',
      where: whereNow[at]!,
    })),
  ]);
  return { ...table, columns, rows: (rows ?? allRows).map((row) => rowOf(row, columns, cells)) };
}

function rowOf(planned: PlannedRow, columns: readonly Column[], cells: Cells): Row {
  const { printed = {}, way: _way, per: _per, ...row } = planned;
  const figures = columns.flatMap(({ id, era }): [string, Figure][] => {
    const figure = era === 'then' ? printed[id.replace('then-', '')] : cells.get(row.id)?.[id];
    if (figure !== undefined) return [[id, figure]];
    const provider = PROVIDERS.find((one) => id.startsWith(one));
    const way = provider === undefined ? undefined : wayOf(planned, provider);
    return typeof way === 'string' ? [[id, { missing: way }]] : [];
  });
  return { ...row, figures: Object.fromEntries(figures) };
}
