// A value through serializers: those of a document with what stands in for them now, then those it
// did not have.
import { isDeepStrictEqual } from 'node:util';
import type { ExperimentContext } from '../../experiment.ts';
import {
  type Column,
  type Figure,
  figureOf,
  type FigureTable,
  type Row,
} from '../../../../../shared/lab/report/chapters/schema.ts';
import { alternatingRuns, type Variant } from '../../rounds.ts';
import { type Codec, type Dictionary, labelOf } from './codecs.ts';
import { typicalMs } from './typical.ts';

export const MEASURES = ['encode', 'decode', 'total', 'bytes'] as const;

/** Milliseconds and bytes now; then in the document's unit. */
export type SerializerMeasure = (typeof MEASURES)[number];

/** A serializer of then. */
export interface Printed {
  readonly id: string;
  readonly name: string;
  /** Its stand-in, or the reason for none. */
  readonly now: Codec | string;
  /** The document's printed figures. */
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
  /** The unit of the times of then. */
  readonly unitThen: 'ms' | 's';
  readonly measures: readonly SerializerMeasure[];
}

/** The columns `then-encode`, `now-encode` and so on; then has those that the document printed. */
export async function serializerTable(plan: SerializerPlan, context: ExperimentContext): Promise<FigureTable> {
  const { value, rounds, printed, added, against, whereThen, unitThen, measures, ...table } = plan;
  const codecs = [...printed.flatMap(({ now }) => (typeof now === 'string' ? [] : now)), ...added];
  const variants = [...new Set(codecs)].map((codec) => codecVariant(codec, value));
  const cells = await alternatingRuns(context, { rounds }, variants);
  const whereNow = `Node.js ${process.versions.node.split('.')[0]}`;
  const columns = measures.flatMap((measure): Column[] => {
    const hasThen = printed.some(({ figures }) => figures[measure] !== undefined);
    return (['then', 'now'] as const)
      .filter((era) => era === 'now' || hasThen)
      .map((era) => ({
        id: `${era}-${measure}`,
        era,
        measure,
        where: era === 'then' ? whereThen : whereNow,
        unit: unitOf(measure, era),
        better: 'lower',
      }));
  });
  function unitOf(measure: SerializerMeasure, era: 'then' | 'now'): string {
    if (measure === 'bytes') return 'bytes';
    return era === 'now' ? 'ms' : unitThen;
  }
  const nowOf = (now: Codec | string): Record<string, Figure> =>
    typeof now === 'string'
      ? Object.fromEntries(measures.map((measure) => [`now-${measure}`, { missing: now }]))
      : { ...cells.get(now.id) };
  const rows = printed.map(({ id, name, now, figures, marks }): Row => {
    const then = Object.entries(figures).map(([measure, run]) => [`then-${measure}`, figureOf([run])]);
    return {
      id,
      name,
      ...(typeof now === 'string' || now.name === name ? {} : { standIn: labelOf(now) }),
      ...(marks === undefined ? {} : { marks }),
      against,
      figures: { ...(Object.fromEntries(then) as Record<string, Figure>), ...nowOf(now) },
    };
  });
  const newRows = added.map((codec): Row => {
    return { id: codec.id, name: labelOf(codec), against, figures: cells.get(codec.id) ?? {} };
  });
  return { ...table, columns, rows: [...rows, ...newRows] };
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
