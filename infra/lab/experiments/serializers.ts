// Measures today's serializers, and sets them beside the documents' figures.
import { isDeepStrictEqual } from 'node:util';
import { median } from '../../../shared/lab/kit/numbers.ts';
import { factor, threeDigits, whole, withUnit } from '../../../shared/lab/kit/figure-format.ts';
import { textTable, wrapped } from '../../../shared/lab/kit/text-table.ts';
import type { Codec, Dictionary } from './codecs.ts';
import { type Question, type Row, VALUES } from './documents.ts';

export interface Measured {
  readonly encode: number;
  readonly decode: number;
  readonly bytes: number;
}

/** Reading the clock takes a negligible part of this time. */
const CHUNK_LEAST_US = 3_000;

/** Processor time per call of all threads, in ms: other programs' time is not in it. */
function callMs(work: () => unknown): number {
  const beganUs = processorUs();
  let calls = 0;
  let tookUs = 0;
  while (tookUs < CHUNK_LEAST_US) {
    work();
    calls += 1;
    tookUs = processorUs() - beganUs;
  }
  return tookUs / calls / 1_000;
}

/** Medians of rounds in which the codecs take turns. Throws if a value comes back changed. */
export function measured(codecs: readonly Codec[], value: Dictionary, rounds: number): ReadonlyMap<Codec, Measured> {
  const runs = codecs.map((codec) => ({ codec, encode: [] as number[], decode: [] as number[], bytes: 0 }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const run of runs) {
      const bytes = run.codec.encode(value);
      if (!isDeepStrictEqual(run.codec.decode(bytes), value)) throw new Error(`${run.codec.name} lost something`);
      const [encode, decode] = [callMs(() => run.codec.encode(value)), callMs(() => run.codec.decode(bytes))];
      if (round === 0) continue;
      run.encode.push(encode);
      run.decode.push(decode);
      run.bytes = bytes.length;
    }
  }
  return new Map(
    runs.map(({ codec, encode, decode, bytes }) => [codec, { encode: median(encode), decode: median(decode), bytes }]),
  );
}

const HEADER = ['then', 'now', ...['then', 'now'].flatMap((era) => ['encode', 'decode', 'bytes', `x ${era}`])];

/** The question's table. `x`: the times that the document printed, over those of the baseline. */
export function questionText(question: Question, now: ReadonlyMap<Codec, Measured>): string {
  const { title, source, unit, baseline, rows } = question;
  const isWhole = baseline.published?.decode !== undefined;
  const took = (figures: Partial<Measured> | undefined): number | undefined =>
    figures?.encode === undefined ? undefined : figures.encode + (isWhole ? figures.decode! : 0);
  const nowOf = (row: Row): Measured | undefined => (row.measured === undefined ? undefined : now.get(row.measured));
  const cells = (figures: Partial<Measured> | undefined, base: number, ms: (value: number) => string): string[] => [
    ...[figures?.encode, figures?.decode].map((value) => (value === undefined ? '-' : ms(value))),
    figures?.bytes === undefined ? '-' : whole(figures.bytes),
    figures === undefined ? '-' : factor(took(figures)! / base),
  ];
  const [baseThen, baseNow] = [took(baseline.published)!, took(nowOf(baseline))!];
  const lines = rows.map((row) => [
    row.published?.name ?? '-',
    row.measured?.name ?? '-',
    ...cells(row.published, baseThen, unit === null ? threeDigits : (value) => withUnit(value, unit)),
    ...cells(nowOf(row), baseNow, (value) => withUnit(value, 'ms')),
  ]);
  return [title, `then: ${source}`, textTable(HEADER, lines, 2)].join('\n');
}

type Outcome = 'same' | 'changed' | 'refused';

/** `same`: the value has its type and content back, and a repeated object is still one. */
export function outcomeOf(codec: Codec, value: unknown): Outcome {
  let bytes: Uint8Array;
  try {
    bytes = codec.encode({ row: { value } });
  } catch {
    return 'refused';
  }
  try {
    const { row } = codec.decode(bytes) as { row: { value?: unknown } };
    if (!Object.hasOwn(row, 'value') || !isDeepStrictEqual(row.value, value)) return 'changed';
    const isOne = !Array.isArray(value) || (row.value as unknown[])[0] === (row.value as unknown[])[1];
    return isOne ? 'same' : 'changed';
  } catch {
    return 'changed';
  }
}

export function fidelityText(codecs: readonly Codec[]): string {
  const header = ['', 'changed, or cannot be read', 'refused', 'same'];
  const lines = codecs.map((codec) => {
    const names = Map.groupBy(Object.keys(VALUES), (name) => outcomeOf(codec, VALUES[name]));
    const list = (outcome: Outcome): string => names.get(outcome)?.join(', ') ?? '-';
    return [codec.name, list('changed'), list('refused'), String(names.get('same')?.length ?? 0)];
  });
  return `What does not come back the same, of ${Object.keys(VALUES).length} values\n${textTable(header, lines, 3)}`;
}

export function wordsText(rounds: number): string {
  return wrapped(
    `Times are processor time per call, medians of ${rounds} rounds in turn on Node.js ${process.versions.node}. Computers and languages differ between then and now: only the columns x, each over its own baseline (1.0 x), can be compared. Then simplejson, pickle, pprint and pyYAML were in Python and the others in C; now JSON and v8.serialize are in C++ and the others in JavaScript.`,
  ).join('\n');
}

function processorUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
