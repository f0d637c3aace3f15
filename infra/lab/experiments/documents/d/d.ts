// Document D: one dictionary of 100 entries through every serializer, as a multiple of the
// language's own text form.
import type { Experiment, ExperimentContext } from '../../experiment.ts';
import { PUBLISHED, SOURCES } from '../../published/published.ts';
import type { Chapter } from '../../../../../shared/lab/report/chapters/schema.ts';
import {
  BSON,
  CBOR,
  type Codec,
  type Dictionary,
  JS_YAML,
  JSON_TEXT,
  MSGPACK,
  MSGPACK_REFERENCES,
  sharedStructures,
  V8,
  YAML,
} from '../codecs/codecs.ts';
import { csv } from '../codecs/csv.ts';
import { fidelityTable } from '../codecs/fidelity.ts';
import { type Printed, serializerTable } from '../codecs/serializer-table.ts';
import { findingsOf } from './findings.ts';
import { INSPECT, INSPECT_LINES } from './text-form.ts';

const ROUNDS = 5;
const PRINTED = PUBLISHED.serializers_python_2007.mean;

/**
 * The document's order. Like stands for like: what was written in C for what is in C++ or so now,
 * what was in Python for what is in JavaScript.
 */
const SERIALIZERS: readonly (readonly [id: keyof typeof PRINTED, name: string, now: Codec | string])[] = [
  ['pyYAML', 'pyYAML', YAML],
  ['pySyck', 'pySyck', JS_YAML],
  ['pprint', 'pprint', INSPECT_LINES],
  ['pickle', 'pickle', MSGPACK_REFERENCES],
  ['pickle2', 'pickle, protocol 2', MSGPACK_REFERENCES],
  ['simplejson', 'simplejson', 'none is in JavaScript'],
  ['cPickle', 'cPickle', V8],
  ['repr', 'repr', INSPECT],
  ['cjson', 'cjson', JSON_TEXT],
  ['cPickle2', 'cPickle, protocol 2', V8],
  ['marshal', 'marshal', V8],
];

/** As the document made it: `{str(n): n for n in range(100)}`. */
export const DICTIONARY: Dictionary = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [String(n), n]));

export const EXPERIMENT_D: Experiment = {
  id: 'd',
  title: 'One small dictionary: which serializer?',
  question: 'What does each serializer cost beside the language’s own text form, and does it give back what went in?',
  source: SOURCES.D,
  run: chapter,
};

async function chapter(context: ExperimentContext): Promise<Chapter> {
  const printed = SERIALIZERS.map(([id, name, now]): Printed => ({ id, name, now, figures: { encode: PRINTED[id] } }));
  const added = [MSGPACK, sharedStructures(), CBOR, csv('cell'), BSON];
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
