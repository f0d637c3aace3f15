// Document A: which serializer a container should have.
import type { Chapter, FigureTable } from '../../../../shared/lab/report/chapters/schema.ts';
import type { Experiment, ExperimentContext } from '../experiment.ts';
import PUBLISHED from './published.json' with { type: 'json' };
import { containerTable } from './a-container.ts';
import { defaultsTable } from './a-defaults.ts';
import { findingsOf } from './a-findings.ts';
import * as codecs from './codecs/codecs.ts';
import { csv } from './codecs/csv.ts';
import { MEASURES, type Printed, serializerTable } from './codecs/serializer-table.ts';

export const EXPERIMENT_A: Experiment = {
  id: 'a',
  title: 'A container of records: which serializer?',
  question: 'Many records in one entity are read and written whole: which serializer is fast and small?',
  source: {
    title: 'Datastore Container: pickle versus marshal (in German)',
    year: 2008,
    platform: 'Google App Engine in production, Python 2.5',
  },
  run: chapter,
};

async function chapter(context: ExperimentContext): Promise<Chapter> {
  const thousand = await sixColumnTable(context, 1_000);
  const rows = await sixColumnTable(context, 10_000);
  context.log('serializers measured');
  const defaults = await defaultsTable(context);
  context.log('codecs and compressions of the store measured');
  const container = await containerTable(context, ROUNDS);
  return {
    tables: [thousand, rows, container, defaults],
    wordTables: [],
    cannotShow: [
      'Serializing needs no cloud; but a cloud function has a share of a processor, and a slower one.',
      'Reading and writing an entity take milliseconds on a network, and little on one machine: the serializer’s share of an operation is smaller in a cloud than here.',
    ],
    findings: findingsOf({ rows, container, defaults }),
  };
}

/** As many as then. */
const ROUNDS = 2;

const THEN = PUBLISHED.serializers_gae_2008;

export const BASELINE = 'simplejson';

/** Keyed 0 to 5. */
const ROW = Object.fromEntries(THEN.row.entries());

/** Rows keyed from 0 on: one more than `count`, as the document's loop made them. */
export function rowsOf(count: number): codecs.Dictionary {
  return Object.fromEntries(Array.from({ length: count + 1 }, (_, key) => [String(key), { ...ROW }]));
}

/** It decoded CSV once and divided by two rounds: twice the printed time stands here. */
function printedOf(count: 1_000 | 10_000): Printed[] {
  const all = THEN[`rows_${count}`];
  const { encode, decode, bytes } = all.csv;
  return [
    { id: 'pickle', name: 'pickle', now: codecs.MSGPACK_REFERENCES, figures: all.pickle },
    { id: 'pickle2', name: 'pickle, protocol 2', now: codecs.MSGPACK_REFERENCES, figures: all.pickle2 },
    { id: 'marshal', name: 'marshal', now: codecs.V8, figures: all.marshal },
    { id: BASELINE, name: 'simplejson', now: codecs.JSON_TEXT, figures: all.simplejson },
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
      added: [codecs.MSGPACK, codecs.CBOR, codecs.JS_YAML, codecs.BSON, codecs.sharedStructures()],
      against: BASELINE,
      whereThen: 'App Engine, 2008',
      unitThen: 'ms',
      measures: MEASURES,
    },
    context,
  );
}
