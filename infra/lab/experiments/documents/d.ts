// Document D: one dictionary of 100 entries through every serializer, as a multiple of the
// language's own text form.
import type { Chapter } from '../../../../shared/lab/report/chapters/schema.ts';
import type { Experiment, ExperimentContext } from '../experiment.ts';
import PUBLISHED from './published.json' with { type: 'json' };
import * as codecs from './codecs/codecs.ts';
import { csv } from './codecs/csv.ts';
import { fidelityTable } from './codecs/fidelity.ts';
import { type Printed, serializerTable } from './codecs/serializer-table.ts';
import { findingsOf } from './d-findings.ts';

const ROUNDS = 5;
const PRINTED = PUBLISHED.serializers_python_2007.mean;

/** In the document's order. Native code stands in for C, JavaScript for Python. */
const SERIALIZERS: readonly (readonly [id: keyof typeof PRINTED, name: string, now: codecs.Codec | string])[] = [
  ['pyYAML', 'pyYAML', codecs.YAML],
  ['pySyck', 'pySyck', codecs.JS_YAML],
  ['pprint', 'pprint', codecs.INSPECT_LINES],
  ['pickle', 'pickle', codecs.MSGPACK_REFERENCES],
  ['pickle2', 'pickle, protocol 2', codecs.MSGPACK_REFERENCES],
  ['simplejson', 'simplejson', 'none is in JavaScript'],
  ['cPickle', 'cPickle', codecs.V8],
  ['repr', 'repr', codecs.INSPECT],
  ['cjson', 'cjson', codecs.JSON_TEXT],
  ['cPickle2', 'cPickle, protocol 2', codecs.V8],
  ['marshal', 'marshal', codecs.V8],
];

/** As the document made it: `{str(n): n for n in range(100)}`. */
export const DICTIONARY: codecs.Dictionary = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [String(n), n]));

export const EXPERIMENT_D: Experiment = {
  id: 'd',
  title: 'One small dictionary: which serializer?',
  question: 'What does each serializer cost beside the language’s own text form, and does it give back what went in?',
  source: { title: 'Serializer benchmarks', year: 2007, platform: 'Python, on one computer' },
  run: chapter,
};

async function chapter(context: ExperimentContext): Promise<Chapter> {
  const printed = SERIALIZERS.map(([id, name, now]): Printed => ({ id, name, now, figures: { encode: PRINTED[id] } }));
  const added = [codecs.MSGPACK, codecs.sharedStructures(), codecs.CBOR, csv('cell'), codecs.BSON];
  const table = await serializerTable(
    {
      id: 'dictionary',
      title: 'A dictionary of 100 entries',
      about: `{"0": 0, "1": 1, ... "99": 99}, encoded over and over, then decoded. The document printed seconds for a number of repetitions that it does not name, and the percentage of repr(); util.inspect, Node.js's own text form of a value, stands in for it, and is read back by evaluating it: repr was in C, and it is in JavaScript. Now ${ROUNDS} rounds, each the processor time of one call, the median of three chunks.`,
      value: DICTIONARY,
      rounds: ROUNDS,
      printed,
      added,
      against: 'repr',
      whereThen: 'Python, 2007',
      unitThen: 's',
      measures: ['encode', 'decode', 'bytes'],
    },
    context,
  );
  const measured = SERIALIZERS.flatMap(([, , now]) => (typeof now === 'string' ? [] : now));
  const fidelity = fidelityTable([...new Set([...measured, ...added])]);
  return { tables: [table], wordTables: [fidelity], cannotShow: [], findings: findingsOf(table, fidelity) };
}
