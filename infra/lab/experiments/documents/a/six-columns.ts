// Document A's table: rows of six columns through every serializer, with the figures of then.
import type { ExperimentContext } from '../../experiment.ts';
import { PUBLISHED } from '../../published/published.ts';
import type { FigureTable } from '../../../../../shared/lab/report/chapters/schema.ts';
import {
  BSON,
  CBOR,
  type Dictionary,
  JS_YAML,
  JSON_TEXT,
  MSGPACK,
  MSGPACK_REFERENCES,
  sharedStructures,
  V8,
} from '../codecs/codecs.ts';
import { csv } from '../codecs/csv.ts';
import { MEASURES, type Printed, serializerTable } from '../codecs/serializer-table.ts';

/** As many as then. */
export const ROUNDS = 2;

const THEN = PUBLISHED.serializers_gae_2008;

export const BASELINE = 'simplejson';

/** Keyed 0 to 5. */
const ROW = Object.fromEntries(THEN.row.entries());

/**
 * Rows keyed from 0 on, each a dictionary of its columns keyed 0 to 5: one more than `count`, as
 * the document's loop made them.
 */
export function rowsOf(count: number): Dictionary {
  return Object.fromEntries(Array.from({ length: count + 1 }, (_, key) => [String(key), { ...ROW }]));
}

/**
 * The document's figures. It decoded CSV once and divided by two rounds: the true time is twice the
 * printed one, and stands here.
 */
export function printedOf(count: 1_000 | 10_000): Printed[] {
  const all = THEN[`rows_${count}`];
  const { encode, decode, bytes } = all.csv;
  return [
    { id: 'pickle', name: 'pickle', now: MSGPACK_REFERENCES, figures: all.pickle },
    { id: 'pickle2', name: 'pickle, protocol 2', now: MSGPACK_REFERENCES, figures: all.pickle2 },
    { id: 'marshal', name: 'marshal', now: V8, figures: all.marshal },
    { id: BASELINE, name: 'simplejson', now: JSON_TEXT, figures: all.simplejson },
    {
      id: 'csv',
      name: 'CSV',
      now: csv('rows'),
      figures: { encode, decode: 2 * decode, total: encode + 2 * decode, bytes },
      marks: [`printed: ${decode} ms to decode, half of the true time, as the script halved what it ran once`],
    },
  ];
}

export function sixColumnTable(context: ExperimentContext, count: 1_000 | 10_000): Promise<FigureTable> {
  return serializerTable(
    {
      id: `rows-${count}`,
      title: `${(count + 1).toLocaleString('en-US')} rows of six columns`,
      about: `A dictionary of rows keyed 0 to ${count}, each a dictionary ${JSON.stringify(ROW)}. The document printed no baseline; JSON is the one that both times have as it was. ${ROUNDS} rounds as then, after one for warming up; a round now is the processor time of a typical call, the median of up to three. Text formats are encoded to UTF-8 bytes. Shared structures write the names of columns once, into a list beside the bytes that the reader must have.`,
      value: rowsOf(count),
      rounds: ROUNDS,
      printed: printedOf(count),
      added: [MSGPACK, CBOR, JS_YAML, BSON, sharedStructures()],
      against: BASELINE,
      whereThen: 'App Engine, 2008',
      unitThen: 'ms',
      measures: MEASURES,
    },
    context,
  );
}
