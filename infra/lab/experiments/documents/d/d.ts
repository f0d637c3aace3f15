// Document D: one dictionary of 100 entries through every serializer, as percent of the language's own text form.
import type { Experiment, ExperimentContext } from '../../experiment.ts';
import { PUBLISHED, SOURCES } from '../../published/published.ts';
import { type Chapter, type Column, type Figure, figureOf, type FigureTable, type Row } from '../../results.ts';
import { alternatingRuns } from '../../rounds.ts';
import {
  BSON,
  CBOR,
  type Codec,
  type Dictionary,
  JS_YAML,
  JSON_TEXT,
  labelOf,
  MSGPACK,
  MSGPACK_REFERENCES,
  sharedStructures,
  V8,
  YAML,
} from '../codecs/codecs.ts';
import { csv } from '../codecs/csv.ts';
import { fidelityTable } from '../codecs/fidelity.ts';
import { codecVariant } from '../codecs/timed.ts';
import { findingsOf } from './findings.ts';
import { INSPECT, INSPECT_LINES } from './text-form.ts';

const TITLE = 'One small dictionary: which serializer?';
const QUESTION =
  'What does each serializer cost beside the language’s own text form, and does it give back what went in?';
const ROUNDS = 5;

/** What the document compared, in its order, and what stands in for it now. */
const PRINTED = [
  { id: 'pyYAML', name: 'pyYAML', codec: YAML },
  { id: 'pySyck', name: 'pySyck', codec: JS_YAML },
  { id: 'pprint', name: 'pprint', codec: INSPECT_LINES },
  { id: 'pickle', name: 'pickle', codec: MSGPACK_REFERENCES },
  { id: 'pickle2', name: 'pickle, protocol 2', codec: MSGPACK_REFERENCES },
  { id: 'simplejson', name: 'simplejson', codec: JSON_TEXT },
  { id: 'cPickle', name: 'cPickle', codec: V8 },
  { id: 'repr', name: 'repr', codec: INSPECT },
  { id: 'cjson', name: 'cjson', codec: JSON_TEXT },
  { id: 'cPickle2', name: 'cPickle, protocol 2', codec: V8 },
  { id: 'marshal', name: 'marshal', codec: V8 },
] as const;

const BASELINE = 'repr';

/** As the document made it: `{str(n): n for n in range(100)}`. */
export const DICTIONARY: Dictionary = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [String(n), n]));

export const EXPERIMENT_D: Experiment = { id: 'd', title: TITLE, question: QUESTION, budgetMs: 25_000, run: chapter };

async function chapter(context: ExperimentContext): Promise<Chapter> {
  const added = [MSGPACK, sharedStructures(), CBOR, csv('cell'), BSON];
  const codecs = [...new Set([...PRINTED.map(({ codec }) => codec), ...added])];
  const cells = await alternatingRuns(
    context,
    { rounds: ROUNDS },
    codecs.map((codec) => codecVariant(codec.id, codec, DICTIONARY)),
  );
  const now = (codec: Codec): Record<string, Figure> => cells.get(codec.id) ?? {};
  const table = tableOf([
    ...PRINTED.map(({ id, name, codec }): Row => ({
      id,
      name,
      standIn: labelOf(codec),
      against: BASELINE,
      figures: { printed: figureOf([PUBLISHED.serializers_python_2007.mean[id]]), ...now(codec) },
    })),
    ...added.map((codec): Row => ({
      id: codec.id,
      name: labelOf(codec),
      against: BASELINE,
      figures: now(codec),
    })),
  ]);
  const fidelity = fidelityTable(codecs);
  return {
    id: 'd',
    title: TITLE,
    question: QUESTION,
    source: SOURCES.D,
    tables: [table],
    wordTables: [fidelity],
    cannotShow: [],
    findings: findingsOf(table, fidelity),
  };
}

function tableOf(rows: readonly Row[]): FigureTable {
  const column = { era: 'now', where: `Node.js ${process.versions.node.split('.')[0]}`, better: 'lower' } as const;
  const columns: Column[] = [
    { id: 'printed', era: 'then', measure: 'encode', where: 'Python, 2007', unit: 's', better: 'lower' },
    { ...column, id: 'encode', measure: 'encode', unit: 'ms' },
    { ...column, id: 'decode', measure: 'decode', unit: 'ms' },
    { ...column, id: 'bytes', measure: 'bytes', unit: 'bytes' },
  ];
  return {
    id: 'dictionary',
    title: 'A dictionary of 100 entries',
    about: `{"0": 0, "1": 1, ... "99": 99}, encoded over and over, then decoded. The document printed seconds for a number of repetitions that it does not name, and the percentage of repr(); util.inspect, Node.js's own text form of a value, stands in for it, and is read back by evaluating it. Now ${ROUNDS} rounds, each the processor time of one call, the median of three chunks.`,
    columns,
    rows,
  };
}
