// The commands on records: get, put, delete, scan; and the list of tables.
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import {
  decode,
  encode,
  type EncodedValue,
  type Entry,
  type Table,
  type TableOptions,
} from '../../../shared/store/index.ts';
import { choice, runnable, UsageError, wholeNumber } from '../options.ts';
import { ADDRESS_HELP } from './address.ts';
import { checkExact, textOf } from './exact-json.ts';
import { FROM, onStore, TO } from './opened.ts';
import { lineOf, readableValue } from './record-line.ts';

const JSON_LINE = { help: 'prints the record as `export` writes it, and its version, which `import` does not take' };

const get = runnable({
  name: 'stowage get',
  operands: ['TABLE', 'KEY'],
  about: `Prints the value of a record: JSON where it can be written so, bytes as they are.
${ADDRESS_HELP}
Exit codes: 0 it is there, 1 it is not, or could not be read.`,
  options: { from: FROM, json: JSON_LINE },
  examples: ['stowage get users ada --from gcp://my-project/stowage-prod'],
  async run({ operands, values }) {
    const [name = '', key = ''] = operands;
    return withTable(['--from', values.from], name, async (table, signal) => {
      const entry = await table.get(key, { signal });
      if (entry === undefined) throw new Error(`there is no record ${JSON.stringify(key)} in ${name}`);
      if (values.json) console.log(fullLine(entry));
      else process.stdout.write(printed(entry, name));
    });
  },
});

const put = runnable({
  name: 'stowage put',
  operands: ['TABLE', 'KEY', '[VALUE]'],
  about: `Writes a record, and prints its version. VALUE is JSON; left out, standard input is read.
${ADDRESS_HELP}`,
  options: {
    to: TO,
    codec: { value: 'msgpack|json|bytes', default: 'msgpack', help: 'how it is stored; bytes are taken as they are' },
    'ttl-ms': { value: 'MS', help: 'it expires then; left out, never' },
    'if-version': { value: 'V', help: 'only over this version' },
    'if-absent': { help: 'only if there is no record' },
    create: { value: 'hash|key', help: 'creates the table with this order, if there is none' },
  },
  examples: [
    `stowage put users ada '{"name":"Ada"}' --to gcp://my-project/stowage-prod`,
    'stowage put files logo --codec bytes --to azure://myaccount/stowage < logo.png',
  ],
  async run({ operands, values }) {
    const [name = '', key = '', text] = operands;
    const codec = choice('--codec', values.codec, ['msgpack', 'json', 'bytes']);
    const { 'if-version': ifVersion, 'if-absent': ifAbsent, 'ttl-ms': ttl, create } = values;
    if (ifVersion !== undefined && ifAbsent) throw new UsageError('give --if-version or --if-absent, not both');
    const ttlMs = ttl === undefined ? undefined : wholeNumber('--ttl-ms', ttl, 1);
    const order = create === undefined ? undefined : choice('--create', create, ['hash', 'key']);
    const value = valueOf(codec, text === undefined ? await buffer(process.stdin) : Buffer.from(text));
    return withTable(
      ['--to', values.to],
      name,
      async (table, signal) => {
        const { version } = await table.put(key, value, {
          signal,
          ...(ttlMs !== undefined && { ttlMs }),
          ...(ifVersion !== undefined && { ifVersion }),
          ...(ifAbsent && { ifAbsent }),
        });
        console.log(version);
      },
      order === undefined ? { create: false } : { order },
    );
  },
});

const remove = runnable({
  name: 'stowage delete',
  operands: ['TABLE', 'KEY'],
  about: `Deletes a record.
${ADDRESS_HELP}
Exit codes: 0 it is gone, or was not there, 1 it could not be deleted.`,
  options: { from: FROM, 'if-version': { value: 'V', help: 'only this version' } },
  examples: ['stowage delete users ada --from gcp://my-project/stowage-prod'],
  async run({ operands, values }) {
    const [name = '', key = ''] = operands;
    const ifVersion = values['if-version'];
    return withTable(['--from', values.from], name, async (table, signal) => {
      const { deleted } = await table.delete(key, { signal, ...(ifVersion !== undefined && { ifVersion }) });
      console.log(deleted ? 'deleted' : 'there was none');
    });
  },
});

const LIMIT = '100';

const scan = runnable({
  name: 'stowage scan',
  operands: ['TABLE'],
  about: `Prints records, a line each, as \`export\` writes them. Bounds and --reverse need a table of order key.
${ADDRESS_HELP}`,
  options: {
    from: FROM,
    prefix: { value: 'TEXT', help: 'keys that begin so' },
    after: { value: 'KEY', help: 'keys behind it' },
    through: { value: 'KEY', help: 'keys up to it' },
    reverse: { help: 'the last key first' },
    limit: { value: 'N', default: LIMIT, help: 'records at most' },
    cursor: { value: 'TEXT', help: 'goes on where a scan with the same bounds ended' },
    keys: { help: 'prints keys alone' },
  },
  examples: ['stowage scan users --prefix a --limit 10 --from gcp://my-project/stowage-prod'],
  async run({ operands: [name = ''], values }) {
    const { from: _, limit: text, keys, reverse, ...bounds } = values;
    const limit = wholeNumber('--limit', text, 1);
    const given = Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
    return withTable(['--from', values.from], name, async (table, signal) => {
      const options = { ...given, ...(reverse && { reverse }), limit, signal };
      const found = keys ? table.keys(options) : table.scan(options);
      for await (const one of found) console.log(typeof one === 'string' ? one : lineOf(one));
      if (found.cursor !== undefined) console.error(`There is more: --cursor ${found.cursor}`);
    });
  },
});

const tables = runnable({
  name: 'stowage tables',
  about: `Lists the tables of a store.
${ADDRESS_HELP}`,
  options: { from: FROM, json: { help: 'prints the list as JSON' } },
  examples: ['stowage tables --from azure://myaccount/stowage'],
  async run({ values }) {
    return onStore('--from', values.from, async (store, signal) => {
      const found = await store.tables({ signal });
      if (values.json) return console.log(JSON.stringify(found, null, 2));
      for (const { name, order, createdAtMs, damage } of found) {
        const facts = createdAtMs === undefined ? ['damaged', damage] : [order, new Date(createdAtMs).toISOString()];
        console.log([name, ...facts].join('\t'));
      }
      if (found.length === 0) console.error('There are no tables.');
    });
  },
});

/** Opens a table for one piece of work. A table that is not there is not made. */
async function withTable(
  [option, address]: readonly [option: string, address: string | undefined],
  name: string,
  work: (table: Table<EncodedValue>, signal: AbortSignal) => Promise<void>,
  options: TableOptions = { create: false },
): Promise<number | void> {
  return onStore(option, address, async (store, signal) => {
    await work(await store.table(name, { ...options, signal, codec: 'encoded' }), signal);
  });
}

/** As `import` takes it, but for the version. */
function fullLine(entry: Entry<EncodedValue>): string {
  return lineOf(entry).replace(/\}$/, `,"version":${JSON.stringify(entry.version)}}`);
}

function printed({ key, value: stored }: Entry<EncodedValue>, table: string): string | Uint8Array {
  if (stored.codec === 'bytes') return stored.bytes;
  const readable = readableValue(stored);
  if (readable !== undefined) return `${JSON.stringify(readable.value, null, 2)}\n`;
  try {
    return `${inspect(decode(stored), { depth: Infinity, maxArrayLength: null, maxStringLength: null })}\n`;
  } catch (cause) {
    const record = `the record ${JSON.stringify(key)} in ${table}`;
    throw new Error(`${record} is no ${stored.codec}: --json gives its bytes`, { cause });
  }
}

function valueOf(codec: EncodedValue['codec'], bytes: Buffer): EncodedValue {
  if (codec === 'bytes') return { codec, bytes };
  const text = textOf(bytes);
  try {
    const value = encode(codec, JSON.parse(text));
    checkExact(text, 'VALUE');
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new UsageError((error as Error).message, { cause: error });
    throw new UsageError(`VALUE is no JSON (${error.message}); text takes quotes: '"text"'`, { cause: error });
  }
}

/** Each by its name. */
export const RECORD_COMMANDS = { get, put, delete: remove, scan, tables };
