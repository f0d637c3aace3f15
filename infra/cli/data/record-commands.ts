// The commands on records: get, put, delete, scan; and the list of tables.
import { addAbortSignal } from 'node:stream';
import { inspect } from 'node:util';
import { decode, encode, type EncodedValue, type Entry } from '../../../shared/store/index.ts';
import { choice, given, UsageError, wholeNumber } from '../command-options.ts';
import { printableKey, say, sayLines, warn } from '../print.ts';
import { wholeTextOf } from '../terminal-text.ts';
import { checkExact } from '../../../functions/http/json-text.ts';
import { encodedTable } from './copy.ts';
import { LINE_BYTES_MAX } from './input.ts';
import { FROM, storeCommand } from './open-store.ts';
import { lineOf, readableValue } from './record-line.ts';

const JSON_LINE = { help: 'prints the record as `export` writes it, and its version, which `import` does not take' };

const get = storeCommand({
  name: 'stowage get',
  operands: ['TABLE', 'KEY'],
  about: `Prints the value of a record: JSON where it can be written so, bytes as they are.
Exit codes: 0 it is there, 1 it is not, or could not be read.`,
  options: { from: FROM, json: JSON_LINE },
  examples: ['stowage get users ada --from gcp://my-project/stowage-prod'],
  async run(store, { operands, values }, signal) {
    const [name = '', key = ''] = operands;
    const table = await encodedTable(store, name, { create: false, signal });
    const entry = await table.get(key, { signal });
    if (entry === undefined) throw new Error(`there is no record ${JSON.stringify(key)} in ${name}`);
    if (values.json) say(fullLine(entry));
    else if (entry.value.codec === 'bytes') process.stdout.write(entry.value.bytes);
    else sayLines(printed(entry, name));
  },
});

const put = storeCommand({
  name: 'stowage put',
  operands: ['TABLE', 'KEY', '[VALUE]'],
  about: `Writes a record, and prints its version. VALUE is JSON; left out, standard input is read.`,
  options: {
    from: FROM,
    codec: { value: 'msgpack|json|bytes', default: 'msgpack', help: 'how it is stored; bytes are taken as they are' },
    'ttl-ms': { value: 'MS', help: 'it expires then; left out, never' },
    'if-version': { value: 'V', help: 'only over this version' },
    'if-absent': { help: 'only if there is no record' },
    create: { value: 'hash|key', help: 'creates the table with this order, if there is none' },
  },
  examples: [
    `stowage put users ada '{"name":"Ada"}' --from gcp://my-project/stowage-prod`,
    'stowage put files logo --codec bytes --from azure://myaccount/stowage < logo.png',
  ],
  async run(store, { operands, values }, signal) {
    const [name = '', key = '', text] = operands;
    const codec = choice('--codec', values.codec, ['msgpack', 'json', 'bytes']);
    const { 'if-version': ifVersion, 'if-absent': ifAbsent, 'ttl-ms': ttl, create } = values;
    if (ifVersion !== undefined && ifAbsent) throw new UsageError('give --if-version or --if-absent, not both');
    const ttlMs = ttl === undefined ? undefined : wholeNumber('--ttl-ms', ttl, 1);
    const order = create === undefined ? undefined : choice('--create', create, ['hash', 'key']);
    const value = valueOf(codec, text === undefined ? await standardInput(signal) : Buffer.from(text));
    const table = await encodedTable(store, name, { signal, ...(order === undefined ? { create: false } : { order }) });
    const options = given({ signal, ttlMs, ifVersion, ifAbsent: ifAbsent || undefined });
    say((await table.put(key, value, options)).version);
  },
});

const remove = storeCommand({
  name: 'stowage delete',
  operands: ['TABLE', 'KEY'],
  about: `Deletes a record.
Exit codes: 0 it is gone, or was not there, 1 it could not be deleted.`,
  options: { from: FROM, 'if-version': { value: 'V', help: 'only this version' } },
  examples: ['stowage delete users ada --from gcp://my-project/stowage-prod'],
  async run(store, { operands, values }, signal) {
    const [name = '', key = ''] = operands;
    const ifVersion = values['if-version'];
    const table = await encodedTable(store, name, { create: false, signal });
    const { deleted } = await table.delete(key, given({ signal, ifVersion }));
    say(deleted ? 'deleted' : 'there was none');
  },
});

const touch = storeCommand({
  name: 'stowage touch',
  operands: ['TABLE', 'KEY'],
  about: `Gives a record another expiry; its value stays.
Exit codes: 0 it has it, 1 there is no such record, or it could not be written.`,
  options: { from: FROM, 'ttl-ms': { value: 'MS', help: 'it expires then; it must be given' } },
  examples: ['stowage touch sessions s-1 --ttl-ms 1800000 --from gcp://my-project/stowage-prod'],
  async run(store, { operands, values }, signal) {
    const [name = '', key = ''] = operands;
    const ttlMs = wholeNumber('--ttl-ms', values['ttl-ms'] ?? '', 1);
    const table = await encodedTable(store, name, { create: false, signal });
    if (!(await table.touch(key, { signal, ttlMs })))
      throw new Error(`there is no record ${JSON.stringify(key)} in ${name}`);
  },
});

const count = storeCommand({
  name: 'stowage count',
  about: `Prints the number of records, by a small read of each leaf in most cases. --prefix needs a table of order key.`,
  options: { from: FROM, prefix: { value: 'TEXT', help: 'of keys that begin so' } },
  async run(store, { operands: [name = ''], values: { prefix } }, signal) {
    const table = await encodedTable(store, name, { create: false, signal });
    say(String(await table.count(given({ signal, prefix }))));
  },
});

const drop = storeCommand({
  name: 'stowage drop',
  about: `Deletes a table with all its records, for which --yes must be given. Run again after an interruption it goes on.
Exit codes: 0 it is gone, 1 there was none, or it could not be deleted.`,
  options: { from: FROM, yes: { help: 'its records may go' } },
  goesOn: true,
  examples: ['stowage drop users --yes --from gcp://my-project/stowage-dev'],
  async run(store, { operands: [name = ''], values: { yes } }, signal) {
    if (!yes) throw new UsageError(`this deletes all records of ${name}: give --yes`);
    if (!(await store.drop(name, { signal }))) throw new Error(`there is no table ${name}`);
    say('dropped');
  },
});

const LIMIT = '100';
const LIMIT_MAX = 1e12;

const scan = storeCommand({
  name: 'stowage scan',
  about: `Prints records, a line each, as \`export\` writes them. Bounds and --reverse need a table of order key.`,
  options: {
    from: FROM,
    prefix: { value: 'TEXT', help: 'keys that begin so' },
    after: { value: 'KEY', help: 'keys behind it' },
    through: { value: 'KEY', help: 'keys up to it' },
    reverse: { help: 'the last key first' },
    limit: { value: 'N', default: LIMIT, help: 'records at most' },
    cursor: { value: 'TEXT', help: 'goes on where a scan with the same bounds ended' },
    keys: { help: 'prints keys alone; one with control characters as JSON' },
  },
  examples: ['stowage scan users --prefix a --limit 10 --from gcp://my-project/stowage-prod'],
  async run(store, { operands: [name = ''], values }, signal) {
    const { from: _, limit: text, keys, reverse, ...bounds } = values;
    const limit = wholeNumber('--limit', text, 1, LIMIT_MAX);
    const table = await encodedTable(store, name, { create: false, signal });
    // Asks for one more than it prints, as a cursor does not tell whether there is one.
    const options = given({ ...bounds, reverse: reverse || undefined, limit: limit + 1, signal });
    const found = keys ? table.keys(options) : table.scan(options);
    let cursor: string | undefined;
    let count = 0;
    for await (const one of found) {
      if (count === limit) return warn(`There is more: --cursor ${cursor}`);
      say(typeof one === 'string' ? printableKey(one) : lineOf(one));
      count += 1;
      if (count === limit) ({ cursor } = found);
    }
  },
});

const tables = storeCommand({
  name: 'stowage tables',
  operands: [],
  about: `Lists the tables of a store.`,
  options: { from: FROM, json: { help: 'prints the list as JSON' } },
  examples: ['stowage tables --from azure://myaccount/stowage'],
  async run(store, { values }, signal) {
    const found = await store.tables({ signal });
    if (values.json) return sayLines(JSON.stringify(found, null, 2));
    for (const { name, order, createdAtMs, damage } of found) {
      const facts = createdAtMs === undefined ? ['damaged', damage] : [order, new Date(createdAtMs).toISOString()];
      say([name, ...facts].join('\t'));
    }
    if (found.length === 0) warn('There are no tables.');
  },
});

/** As `import` takes it, but for the version. */
function fullLine(entry: Entry<EncodedValue>): string {
  return lineOf(entry).replace(/\}$/, `,"version":${JSON.stringify(entry.version)}}`);
}

/** A value that is not of bytes, for a terminal. */
function printed({ key, value: stored }: Entry<EncodedValue>, table: string): string {
  const readable = readableValue(stored);
  if (readable !== undefined) return JSON.stringify(readable.value, null, 2);
  try {
    return inspect(decode(stored), { depth: Infinity, maxArrayLength: null, maxStringLength: null });
  } catch (cause) {
    const record = `the record ${JSON.stringify(key)} in ${table}`;
    throw new Error(`${record} is no ${stored.codec}: --json gives its bytes`, { cause });
  }
}

/** Throws a UsageError beyond what a value may have. */
async function standardInput(signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of addAbortSignal(signal, process.stdin)) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > LINE_BYTES_MAX) throw new UsageError(`VALUE exceeds ${LINE_BYTES_MAX} bytes: no record takes as many`);
  }
  return Buffer.concat(chunks);
}

function valueOf(codec: EncodedValue['codec'], bytes: Buffer): EncodedValue {
  if (codec === 'bytes') return { codec, bytes };
  const text = wholeTextOf(bytes, 'VALUE', '--codec bytes takes it as it is');
  try {
    const value = encode(codec, JSON.parse(text));
    checkExact(text, 'VALUE');
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new UsageError((error as Error).message, { cause: error });
    throw new UsageError(`VALUE is no JSON (${error.message}); text takes quotes: '"text"'`, { cause: error });
  }
}

export const RECORD_COMMANDS = { get, put, delete: remove, touch, scan, count, tables, drop };
