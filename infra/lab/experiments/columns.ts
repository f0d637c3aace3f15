// Columns and rows of experiments that run on both providers: a measure has the column of then and one of each emulator.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { Backends } from './backends.ts';
import { type Column, type Figure, NO_COUNTERPART, type Row } from './results.ts';
import type { Cells } from './rounds.ts';

/** What a measure's columns have in common, and the end of their ids: `azure-tables-rate`. */
export interface Measure extends Pick<Column, 'measure' | 'unit' | 'better'> {
  readonly suffix: string;
}

/** What work cost beside its time. */
export const SPENT: readonly Measure[] = [
  { suffix: 'requests', measure: 'requests', unit: 'requests', better: 'lower' },
  { suffix: 'billed', measure: 'billed operations', unit: 'operations', better: 'lower' },
  { suffix: 'cpu', measure: 'processor time of the client', unit: 'ms', better: 'lower' },
];

/** Names of the emulators. */
export type Where = Readonly<Record<Provider, string>>;

export async function whereOf(backends: Backends, providers: readonly Provider[]): Promise<Where> {
  const names = await Promise.all(
    providers.map(async (provider) => [provider, await backends.where(provider)] as const),
  );
  return Object.fromEntries(names) as Where;
}

export function thenColumn({ suffix, ...measure }: Measure, where: string): Column {
  return { ...measure, id: `then-${suffix}`, era: 'then', where };
}

/** The document's own provider comes first. */
export function nowColumns({ suffix, ...measure }: Measure, where: Where): Column[] {
  return (Object.entries(where) as [Provider, string][]).map(([provider, name]) => ({
    ...measure,
    id: `${provider}-${suffix}`,
    era: 'now',
    where: name,
  }));
}

/** A row without its figures of now. */
export interface Plan extends Omit<Row, 'figures'> {
  /** Figures of then by the suffix of their measure. */
  readonly printed?: Readonly<Record<string, Figure>>;
  /** Why a provider has no figure of this row. */
  readonly lacks?: Readonly<Partial<Record<Provider, string>>>;
}

/** Rows with the figures of these columns. */
export function rowsOf(plans: readonly Plan[], columns: readonly Column[], cells: Cells): Row[] {
  return plans.map(({ printed, lacks, ...row }) => {
    const figures = columns.flatMap(({ id, era }): [string, Figure][] => {
      const cell = cells.get(row.id)?.[id];
      // What the model does not play stays empty; the table's notes say why.
      if (era === 'model') return cell === undefined ? [] : [[id, cell]];
      if (era === 'now') return [[id, cell ?? { missing: whyNot(id, lacks) }]];
      const figure = printed?.[id.replace('then-', '')];
      return figure === undefined ? [] : [[id, figure]];
    });
    return { ...row, figures: Object.fromEntries(figures) };
  });
}

function whyNot(columnId: string, lacks: Plan['lacks']): string {
  const [, why] = Object.entries(lacks ?? {}).find(([provider]) => columnId.startsWith(provider)) ?? [];
  return why ?? NO_COUNTERPART;
}
