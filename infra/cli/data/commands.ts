// The commands that move tables: export, import, copy.
import type { Store } from '../../../shared/store/index.ts';
import { EXIT } from '../exit.ts';
import { keyPart, keyTemplate } from '../../plain/plain-place.ts';
import { choice, refusing, UsageError, wholeNumber } from '../command-options.ts';
import { say } from '../print.ts';
import { checksumOf, COPY_STATE, copyTable, encodedTable } from './copy.ts';
import { exportTable } from './export.ts';
import { importTable } from './import.ts';
import type { KeyOf } from './record-line.ts';
import { FROM, opened, storeCommand, TO } from './open-store.ts';
import { counted, goingOn, resumed } from './resumed.ts';

export const RANGES = { value: 'N', default: '8', help: 'ranges of the table that are worked on side by side' };
const RANGES_MAX = 256;

const exportAll = storeCommand({
  name: 'stowage export',
  about: `Writes a table into a folder: NDJSON, a line per record, types kept. Run again after an interruption it goes on. A record
that nobody changes meanwhile is in it once; the export is no snapshot.`,
  options: { from: FROM, out: { value: 'DIR', help: 'the folder; default TABLE.export' }, ranges: RANGES },
  examples: ['stowage export users --from azure://myaccount/stowage --out users.export'],
  async run(store, { operands: [table = ''], values, typed }, signal) {
    const folder = values.out ?? `${table}.export`;
    const options = { store, from: values.from ?? '', table, folder, ranges: rangesOf(values), signal };
    const held = (records: number): string => `${records} records are in ${folder}`;
    const exporting = counted(
      (onProgress) => exportTable({ ...options, onProgress }),
      (records) => `${held(records)}. This goes on: ${typed}`,
    );
    const { ranges } = await goingOn(exporting, `remove ${folder}, or name another by --out`);
    say(held(ranges.reduce((sum, range) => sum + range.records, 0)));
  },
});

const importAll = storeCommand({
  name: `stowage import`,
  operands: ['DIR|FILE|-'],
  about: `Puts records into a table, over what is there: of an export, or of a file or the standard input (-): NDJSON, a line
{"key":"a","value":1} for each record, or with a key option any object; or CSV with a header, its values as texts. Gzip is
unpacked. After an interruption run it again.
Exit codes: 0 all are put, 1 some could not be, 2 a line is no record: those above it are put.`,
  options: {
    to: TO,
    table: { value: 'NAME', help: 'the table; it must be given' },
    order: { value: 'hash|key', help: 'of a table that does not exist; default as exported, else hash' },
    format: { value: 'ndjson|csv', help: 'of a file; default csv for names that end in .csv or .csv.gz, else ndjson' },
    'key-field': { value: 'NAME', help: "the member of an object, or the column, that is the record's key" },
    'key-template': { value: 'TEMPLATE', help: "the key made of several, by names in braces, as '{tenant}/{id}'" },
  },
  examples: [
    'stowage import users.export --to gcp://my-project/stowage-prod --table users',
    'cat users.csv.gz | stowage import - --format csv --key-field id --to azure://myaccount/stowage --table users',
  ],
  async run(store, { operands: [source = ''], values }, signal) {
    const { table } = values;
    if (table === undefined) throw new UsageError('--table is missing: the table that the records go to');
    const order = values.order === undefined ? undefined : choice('--order', values.order, ['hash', 'key']);
    const usual = /\.csv(\.gz)?$/i.test(source) ? 'csv' : 'ndjson';
    const format = choice('--format', values.format ?? usual, ['ndjson', 'csv']);
    const keyOf = await keyOption(values['key-field'], values['key-template']);
    const put = (records: number): string => `${records} records were put into ${table}`;
    const records = await counted(
      (onProgress) => importTable({ store, table, order, source, format, keyOf, onProgress, signal }),
      (sure) => `${put(sure)}; import it again, it writes over what is there`,
    );
    say(put(records));
  },
});

/** Undefined if neither option is given. Throws a UsageError. */
async function keyOption(field: string | undefined, template: string | undefined): Promise<KeyOf | undefined> {
  if (field !== undefined && template !== undefined)
    throw new UsageError('--key-field and --key-template exclude each other: give one');
  if (field !== undefined) return (partOf) => keyPart(field, partOf(field));
  return template === undefined ? undefined : refusing('--key-template', () => keyTemplate(template));
}

const copy = storeCommand({
  name: 'stowage copy',
  about: `Copies a table into another store, then compares both by counts and checksums. Run again after an interruption it goes
on. A record that nobody changes meanwhile arrives as it is; the copy is no snapshot.
Exit codes: 0 both hold the same, 1 the copy failed, or they differ.`,
  options: {
    from: FROM,
    to: { value: 'STORE', help: 'where the records go; it must be given' },
    as: { value: 'NAME', help: 'its name there; default the same' },
    state: { value: 'FILE', help: 'where it has come to; default TABLE.copy.json' },
    ranges: RANGES,
  },
  examples: ['stowage copy users --from gcp://my-project/stowage-prod --to azure://myaccount/stowage'],
  async run(from, { operands: [table = ''], values, typed }, signal) {
    const { as: target = table, state: file = `${table}.copy.json` } = values;
    const ranges = rangesOf(values);
    await using to = opened('--to', values.to);
    const of = [values.from ?? '', table, values.to ?? '', target];
    const copied = await resumed({ file, of, shape: COPY_STATE, done: 'were copied', typed }, (state, onState) =>
      copyTable({ from, to, table, target, ranges, state, onState, signal }),
    );
    const sumIn = async (store: Store, name: string, onRecord: () => void) =>
      checksumOf(await encodedTable(store, name, { create: false }), ranges, signal, onRecord);
    let seen = 0;
    const comparing = counted(
      (onProgress) => {
        const onRecord = (): void => onProgress((seen += 1), seen / (2 * copied));
        return Promise.all([sumIn(from, table, onRecord), sumIn(to, target, onRecord)]);
      },
      (records) => `${records} records of both were compared`,
    );
    const [there, here] = await comparing;
    const isSame = there.sum === here.sum && there.records === here.records;
    say(
      isSame
        ? `Both hold the same ${here.records} records (checksum ${here.sum}).`
        : `They differ: ${there.records} records there, ${here.records} here. Somebody wrote meanwhile, or ${target} held others before.`,
    );
    if (!isSame) process.exitCode = EXIT.failed;
  },
});

export function rangesOf({ ranges }: { readonly ranges: string }): number {
  return wholeNumber('--ranges', ranges, 1, RANGES_MAX);
}

export const DATA_COMMANDS = { export: exportAll, import: importAll, copy };
