// The records of the comparison: realistic English customer data in five text fields, together exactly `recordBytes` bytes, all ASCII.
// Words, names, numbers and dates vary, so that compression gains what it would gain on real text and no more (about half: a test holds it).
import { keyOf } from './keys.ts';
import { type Random, randomInt, seededRandom } from '../kit/random.ts';
import { FIRST_NAMES, LAST_NAMES, PLACES, WORDS } from './words.ts';

export interface RecordFields {
  readonly name: string;
  readonly address: string;
  readonly email: string;
  /** ISO 8601. */
  readonly since: string;
  readonly notes: string;
}

export interface SampleRecord {
  readonly key: string;
  readonly fields: RecordFields;
}

/** Different texts in a pool. Making a text costs more than storing it in a container, so cells draw from a pool made beforehand. */
const POOL_SIZE = 4_096;

/** A record of `index`: always the same key; the text comes from the pool and differs between rounds. */
export type RecordSource = (index: number, round: number) => SampleRecord;

let lastPool: { readonly name: string; readonly texts: readonly RecordFields[] } | undefined;

/** Records of one seed. Texts repeat after 4,096 records, far beyond the reach of a page's compression. */
export function recordSource(seed: number, recordBytes: number, key = keyOf): RecordSource {
  const name = `${seed}/${recordBytes}`;
  if (lastPool?.name !== name) {
    const random = seededRandom(seed);
    lastPool = { name, texts: Array.from({ length: POOL_SIZE }, () => sampleFields(random, recordBytes)) };
  }
  const { texts } = lastPool;
  return (index, round) => ({ key: key(index), fields: texts[(index + round * 31) % POOL_SIZE]! });
}

/** One record's fields, together `recordBytes` bytes. */
function sampleFields(random: Random, recordBytes: number): RecordFields {
  const pick = (list: readonly string[]): string => list[randomInt(random, list.length)]!;
  const first = pick(FIRST_NAMES);
  const last = pick(LAST_NAMES);
  const digits = (count: number): string => String(randomInt(random, 10 ** count)).padStart(count, '0');
  const name = `${first} ${last}`;
  const address = `${1 + randomInt(random, 400)} ${capital(pick(WORDS))} ${pick(['Street', 'Road', 'Lane', 'Avenue', 'Square'])}, ${digits(5)} ${pick(PLACES)}`;
  const email = `${first.toLowerCase()}.${last.toLowerCase()}${digits(3)}@${pick(WORDS)}.example`;
  const since = new Date(Date.UTC(2005, 0, 1) + randomInt(random, 631_152_000) * 1_000).toISOString();
  const left = recordBytes - name.length - address.length - email.length - since.length;
  return { name, address, email, since, notes: sentences(random, Math.max(0, left)) };
}

/** Bytes of a record's key and fields; all of it is ASCII. */
export function sizeOf(record: SampleRecord): number {
  return record.key.length + fieldBytes(record.fields);
}

/** Of the record's own fields, of which a document's has one: what an SDK adds to them is not counted. */
export function fieldBytes({
  name = '',
  address = '',
  email = '',
  since = '',
  notes = '',
}: Partial<RecordFields>): number {
  return name.length + address.length + email.length + since.length + notes.length;
}

function sentences(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    const words = Array.from({ length: 5 + randomInt(random, 9) }, () => wordOrNumber(random));
    text += `${capital(words.join(' '))}. `;
  }
  return text.slice(0, length);
}

/** Every ninth or so is an amount or an order number: business text is full of them, and they compress badly. */
function wordOrNumber(random: Random): string {
  const kind = randomInt(random, 18);
  if (kind === 0) return `order ${randomInt(random, 1_000_000)}`;
  if (kind === 1) return `${randomInt(random, 2_000)}.${String(randomInt(random, 100)).padStart(2, '0')} EUR`;
  return WORDS[randomInt(random, WORDS.length)]!;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
