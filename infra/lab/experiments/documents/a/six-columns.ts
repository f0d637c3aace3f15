// Document A's table: six columns a row, keyed 0..n, through every serializer, with the figures of then.
import { alternatingRuns } from '../../rounds.ts';
import type { ExperimentContext } from '../../experiment.ts';
import { PUBLISHED } from '../../published/published.ts';
import { type Column, type Figure, figureOf, type FigureTable, NOT_PRINTED, type Row } from '../../results.ts';
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
} from '../codecs/codecs.ts';
import { csv } from '../codecs/csv.ts';
import { codecVariant } from '../codecs/timed.ts';

/** As many as then. */
export const ROUNDS = 2;

const THEN = PUBLISHED.serializers_gae_2008;
const [FIRST_NAME, LAST_NAME, STREET, NUMBER, AMOUNT, NOTHING] = THEN.row;

/** The row as a list, as then. */
export function listRows(count: number): Dictionary {
  return keyed(count, () => [...THEN.row]);
}

/** The same row with a name for each column, as records are kept today. */
export function namedRows(count: number): Dictionary {
  return keyed(count, () => ({
    firstName: FIRST_NAME,
    lastName: LAST_NAME,
    street: STREET,
    number: NUMBER,
    amount: AMOUNT,
    nothing: NOTHING,
  }));
}

function keyed(count: number, row: () => unknown): Dictionary {
  return Object.fromEntries(Array.from({ length: count }, (_, key) => [String(key), row()]));
}

/** What the document compared, and what stands in for it now. */
const PRINTED = [
  { id: 'pickle', name: 'pickle', codec: MSGPACK_REFERENCES },
  { id: 'pickle2', name: 'pickle, protocol 2', codec: MSGPACK_REFERENCES },
  { id: 'marshal', name: 'marshal', codec: V8 },
  { id: 'simplejson', name: 'simplejson', codec: JSON_TEXT },
  { id: 'csv', name: 'CSV', codec: csv('list') },
] as const;

export const BASELINE = 'simplejson';

/** Formats that the document did not have. A list has no names to share: shared structures are for the table of named rows. */
const NEW: readonly Codec[] = [MSGPACK, CBOR, JS_YAML, BSON];

/** Every format of today, on rows with names. */
function namedCodecs(): readonly Codec[] {
  return [JSON_TEXT, MSGPACK, sharedStructures(), MSGPACK_REFERENCES, V8, CBOR, csv('named'), JS_YAML, BSON];
}

const MEASURES = [
  { id: 'encode', unit: 'ms' },
  { id: 'decode', unit: 'ms' },
  { id: 'total', unit: 'ms' },
  { id: 'bytes', unit: 'bytes' },
] as const;

const NOW = `Node.js ${process.versions.node.split('.')[0]}`;

export async function sixColumnTable(context: ExperimentContext, count: 1_000 | 10_000): Promise<FigureTable> {
  const value = listRows(count);
  const shared = sharedStructures();
  const codecs = [...new Set([...PRINTED.map(({ codec }) => codec), ...NEW, shared])];
  const cells = await alternatingRuns(
    context,
    { rounds: ROUNDS },
    codecs.map((codec) => codecVariant(codec.id, codec, value)),
  );
  const nowOf = (codec: Codec): Record<string, Figure> => prefixed('now', cells.get(codec.id) ?? {});
  const then = THEN[`rows_${count}`];
  const printed: Row[] = PRINTED.map(({ id, name, codec }) => ({
    id,
    name,
    ...(name === codec.name ? {} : { standIn: labelOf(codec) }),
    against: BASELINE,
    figures: { ...prefixed('then', figuresOf(then[id])), ...nowOf(codec) },
  }));
  const added: Row[] = [...NEW, shared].map((codec) => ({
    id: codec.id,
    name: labelOf(codec),
    against: BASELINE,
    figures: { ...nothingThen(), ...nowOf(codec) },
    ...(codec === shared ? { marks: ['rows are lists: no names to share'] } : {}),
  }));
  return {
    id: `rows-${count}`,
    title: `${count.toLocaleString('en-US')} rows of six columns`,
    about: `${JSON.stringify(THEN.row)} a row, in a dictionary keyed 0..n. The document printed no baseline; JSON is the one that both times have as it was. ${ROUNDS} rounds as then, after one for warming up; a round now is the processor time of a typical call, the median of up to three. Text formats are encoded to UTF-8 bytes.`,
    columns: MEASURES.flatMap(({ id, unit }): Column[] => [
      { id: `then-${id}`, era: 'then', measure: id, where: 'App Engine, 2008', unit, better: 'lower' },
      { id: `now-${id}`, era: 'now', measure: id, where: NOW, unit, better: 'lower' },
    ]),
    rows: [...printed, ...added],
    charted: count === 1_000 ? ['total'] : ['encode', 'decode', 'bytes'],
  };
}

/** Then had no such table. */
export async function namedTable(context: ExperimentContext, count: number): Promise<FigureTable> {
  const value = namedRows(count);
  const codecs = namedCodecs();
  const cells = await alternatingRuns(
    context,
    { rounds: ROUNDS },
    codecs.map((codec) => codecVariant(codec.id, codec, value)),
  );
  return {
    id: `named-${count}`,
    title: `${count.toLocaleString('en-US')} rows with names`,
    about:
      'The same rows as objects of six named fields, as records are kept today; the document had no such table. Here shared structures have names to share: they stand beside the bytes, in a list that the reader must have.',
    columns: MEASURES.map(({ id, unit }) => ({
      id: `now-${id}`,
      era: 'now',
      measure: id,
      where: NOW,
      unit,
      better: 'lower',
    })),
    rows: codecs.map((codec) => ({
      id: codec.id,
      name: labelOf(codec),
      against: JSON_TEXT.id,
      figures: prefixed('now', cells.get(codec.id) ?? {}),
    })),
    charted: [],
  };
}

function figuresOf(figures: Readonly<Record<string, number>>): Record<string, Figure> {
  return Object.fromEntries(Object.entries(figures).map(([measure, value]) => [measure, figureOf([value])]));
}

function nothingThen(): Record<string, Figure> {
  return Object.fromEntries(MEASURES.map(({ id }) => [`then-${id}`, { missing: NOT_PRINTED }]));
}

function prefixed(prefix: string, figures: Readonly<Record<string, Figure>>): Record<string, Figure> {
  return Object.fromEntries(Object.entries(figures).map(([id, figure]) => [`${prefix}-${id}`, figure]));
}
