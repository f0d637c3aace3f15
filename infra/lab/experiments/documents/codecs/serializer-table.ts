// A value through a document's serializers, each with its stand-in of now, and through others.
import { isDeepStrictEqual } from 'node:util';
import {
  type Column,
  type Figure,
  figureOf,
  type FigureTable,
  type Row,
} from '../../../../../shared/lab/report/chapters/schema.ts';
import type { ExperimentContext } from '../../experiment.ts';
import { alternatingRuns, type Variant } from '../../rounds.ts';
import { type Codec, type Dictionary, labelOf } from './codecs.ts';
import { typicalMs } from './typical.ts';

export const MEASURES = ['encode', 'decode', 'total', 'bytes'] as const;

/** Milliseconds and bytes now; then in the document's unit. */
type SerializerMeasure = (typeof MEASURES)[number];

export interface Printed {
  readonly id: string;
  readonly name: string;
  /** Its stand-in, or the reason for none. */
  readonly now: Codec | string;
  readonly figures: Readonly<Partial<Record<SerializerMeasure, number>>>;
  readonly marks?: readonly string[];
}

export interface SerializerPlan extends Pick<FigureTable, 'id' | 'title' | 'about'> {
  readonly value: Dictionary;
  readonly rounds: number;
  readonly printed: readonly Printed[];
  readonly added: readonly Codec[];
  /** The row that ratios are against. */
  readonly against: string;
  readonly whereThen: string;
  readonly unitThen: 'ms' | 's';
  readonly measures: readonly SerializerMeasure[];
}

/** The columns `then-encode`, `now-encode` and so on; then has those that the document printed. */
export async function serializerTable(plan: SerializerPlan, context: ExperimentContext): Promise<FigureTable> {
  const { id, title, about, value, rounds, printed, added, against } = plan;
  const codecs = [...printed.flatMap(({ now }) => (typeof now === 'string' ? [] : now)), ...added];
  const variants = [...new Set(codecs)].map((codec) => codecVariant(codec, value));
  const cells = await alternatingRuns(context, { rounds }, variants);
  const missing = (why: string): Record<string, Figure> =>
    Object.fromEntries(plan.measures.map((measure) => [`now-${measure}`, { missing: why }]));
  const rows = printed.map(({ now, figures, ...row }): Row => {
    const then = Object.entries(figures).map(([measure, run]): [string, Figure] => [
      `then-${measure}`,
      figureOf([run]),
    ]);
    return {
      ...row,
      ...(typeof now === 'string' || now.name === row.name ? {} : { standIn: labelOf(now) }),
      against,
      figures: { ...Object.fromEntries(then), ...(typeof now === 'string' ? missing(now) : cells.get(now.id)) },
    };
  });
  const newRows = added.map((codec): Row => {
    return { id: codec.id, name: labelOf(codec), against, figures: cells.get(codec.id) ?? {} };
  });
  return { id, title, about, columns: columnsOf(plan), rows: [...rows, ...newRows] };
}

function columnsOf({ measures, printed, whereThen, unitThen }: SerializerPlan): Column[] {
  const whereNow = `Node.js ${process.versions.node.split('.')[0]}`;
  return measures.flatMap((measure): Column[] => {
    const common = { measure, better: 'lower' } as const;
    const unit = (time: string): string => (measure === 'bytes' ? 'bytes' : time);
    const now: Column = { ...common, id: `now-${measure}`, era: 'now', where: whereNow, unit: unit('ms') };
    if (printed.every(({ figures }) => figures[measure] === undefined)) return [now];
    return [{ ...common, id: `then-${measure}`, era: 'then', where: whereThen, unit: unit(unitThen) }, now];
  });
}

/** Encode and decode timed apart, bytes counted. Fails if the value does not come back the same. */
function codecVariant(codec: Codec, value: Dictionary): Variant {
  return {
    row: codec.id,
    columns: MEASURES.map((measure) => `now-${measure}`),
    run: () => {
      const bytes = codec.encode(value);
      if (!isDeepStrictEqual(codec.decode(bytes), value)) throw new Error('the value does not come back the same');
      const [encode, decode] = [typicalMs(() => codec.encode(value)), typicalMs(() => codec.decode(bytes))];
      return { 'now-encode': encode, 'now-decode': decode, 'now-total': encode + decode, 'now-bytes': bytes.length };
    },
  };
}
