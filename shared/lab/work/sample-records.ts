// Records of `recordBytes` ASCII bytes: YCSB's random characters, or text that compresses to half.
// Keys are such as `t07:customer:5f3a09c1`, whose tenant is Azure's partition key.
import type { RecordForm } from '../kit/dimensions.ts';
import { type Random, randomInt, scramble32, seededRandom } from '../kit/random.ts';
import { FIRST_NAMES, LAST_NAMES, PLACES, WORDS } from './words.ts';

/** YCSB: `field0` to `field9`. Text: `name`, `address`, `email`, `since` (ISO 8601), `notes`. */
export type RecordFields = Readonly<Record<string, string>>;

export interface SampleRecord {
  readonly key: string;
  readonly fields: RecordFields;
}

/** Making a record costs more than storing it in a container: cells draw from a pool. */
const POOL_COUNT_MAX = 4_096;
const POOL_BYTES_MAX = 16 * 2 ** 20;

/** One index is one key; the fields differ between rounds. */
export type RecordSource = (index: number, round: number) => SampleRecord;

let lastPool: { readonly name: string; readonly all: readonly RecordFields[] } | undefined;

/** Texts repeat after 4,096 records or 16 MiB, far beyond the reach of a page's compression. */
export function recordSource(seed: number, recordBytes: number, form: RecordForm = 'text'): RecordSource {
  const name = `${seed}/${recordBytes}/${form}`;
  if (lastPool?.name !== name) {
    const random = seededRandom(seed);
    const fieldsOf = form === 'text' ? textFields : ycsbFields;
    const length = Math.min(POOL_COUNT_MAX, Math.ceil(POOL_BYTES_MAX / recordBytes));
    lastPool = { name, all: Array.from({ length }, () => fieldsOf(random, recordBytes)) };
  }
  const { all } = lastPool;
  return (index, round) => ({ key: keyOf(index), fields: all[(index + round * 31) % all.length]! });
}

const YCSB_NAMES = Array.from({ length: 10 }, (_, at) => `field${at}`);
const TEXT_NAMES = ['name', 'address', 'email', 'since', 'notes'];

/** Each field has a tenth of `recordBytes`, to a byte: 100 of YCSB's 1,000. */
function ycsbFields(random: Random, recordBytes: number): RecordFields {
  const beginOf = (at: number): number => Math.floor((at * recordBytes) / YCSB_NAMES.length);
  return Object.fromEntries(YCSB_NAMES.map((name, at) => [name, randomText(random, beginOf(at + 1) - beginOf(at))]));
}

/** Six characters share 32 random bits. */
const MASKS = [31, 63, 95, 31, 63, 95] as const;

/** As YCSB's RandomByteIterator makes it: ASCII from the space on. */
export function randomText(random: Random, length: number): string {
  const text = Buffer.allocUnsafe(length);
  let bits = 0;
  for (let at = 0; at < length; at += 1) {
    const place = at % MASKS.length;
    if (place === 0) bits = randomInt(random, 2 ** 32);
    text[at] = 0x20 + ((bits >> (5 * place)) & MASKS[place]!);
  }
  return text.toString('latin1');
}

/** Together `recordBytes` bytes. */
function textFields(random: Random, recordBytes: number): RecordFields {
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

/** The record's own fields: SDKs' additions do not count. */
export function fieldBytes(fields: RecordFields): number {
  let bytes = 0;
  for (const name of isText(fields) ? TEXT_NAMES : YCSB_NAMES) bytes += fields[name]!.length;
  return bytes;
}

/** Fields that may exceed an index's 1,500 bytes; all of YCSB's, as in its own binding. */
export function unindexedIn(fields: RecordFields): string[] {
  return isText(fields) ? ['notes'] : YCSB_NAMES;
}

function isText(fields: RecordFields): boolean {
  return 'notes' in fields;
}

function sentences(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    const words = Array.from({ length: 5 + randomInt(random, 9) }, () => wordOrNumber(random));
    text += `${capital(words.join(' '))}. `;
  }
  return text.slice(0, length);
}

/** About every ninth is a number: business text is full of them, and they compress badly. */
function wordOrNumber(random: Random): string {
  const kind = randomInt(random, 18);
  if (kind === 0) return `order ${randomInt(random, 1_000_000)}`;
  if (kind === 1) return `${randomInt(random, 2_000)}.${String(randomInt(random, 100)).padStart(2, '0')} EUR`;
  return WORDS[randomInt(random, WORDS.length)]!;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Tenants, each one partition of a baseline's Azure table. */
const TENANTS = 16;

/** Consecutive records that belong to one tenant. */
export const TENANT_RUN = 500;

const KEY_STEMS = Array.from({ length: TENANTS }, (_, tenant) => `t${String(tenant).padStart(2, '0')}:customer:`);

/** The key of a record's number, the same in all layouts; no two numbers share one. */
export function keyOf(index: number): string {
  const tenant = Math.floor(index / TENANT_RUN) % TENANTS;
  return KEY_STEMS[tenant]! + scramble32(index).toString(16).padStart(8, '0');
}

/** The key's tenant, `t07`. */
export function tenantOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

/** A scan that ends there stays in one partition of the Azure table. */
export function tenantEnd(key: string): string {
  // `;` comes after `:` in ASCII.
  return `${tenantOf(key)};`;
}
