// What imports read: bytes, unpacked if they are gzip, as lines or as rows of CSV.
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import papaparse from 'papaparse';
import { UsageError } from '../command-options.ts';
import { textOf, wholeTextOf } from '../terminal-text.ts';
import { NO_LINK } from './export.ts';

/** The first bytes of gzip; no text in UTF-8 holds the second. */
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** More than a record of 512 KiB and its key take if every byte is escaped. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;
const END_OF_LINE = 0x0a;

/** Reads no more than is taken. Throws a UsageError about `name` if its gzip is damaged. */
export async function* unpacked(input: AsyncIterable<Buffer>, name: string): AsyncGenerator<Uint8Array> {
  const chunks = input[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < GZIP_MAGIC.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const all = Readable.from(headThen(head, chunks));
  if (!head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) {
    yield* all;
    return;
  }
  const gunzip = createGunzip();
  all.on('error', (error) => gunzip.destroy(error));
  try {
    yield* all.pipe(gunzip);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_'))) throw cause;
    throw new UsageError(`${name} is damaged gzip: ${cause.message}`, { cause });
  } finally {
    all.destroy();
  }
}

async function* headThen(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* { [Symbol.asyncIterator]: () => rest };
}

interface Line {
  /** From 1 on. */
  readonly number: number;
  readonly text: string;
}

/** The lines of a file of an export, which may be no link. Throws as `linesOf`. */
export async function* linesOfExport(file: string): AsyncGenerator<Line> {
  await using handle = await open(file, NO_LINK);
  yield* linesOf(handle.createReadStream({ autoClose: false }), file);
}

/** The lines but blank ones. Throws a UsageError with a line's number. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Line> {
  for await (const { number, text } of rawLinesOf(chunks, name))
    if (text.trim() !== '') yield { number, text: text.replace(/\r$/, '') };
}

/** Every line, with its carriage return. Node's readline splits at U+2028, which JSON may hold. */
async function* rawLinesOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Line> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(END_OF_LINE); end !== -1; end = rest.indexOf(END_OF_LINE)) {
      yield lineIn(name, ++number, rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > LINE_BYTES_MAX) break;
  }
  if (rest.length > 0) yield lineIn(name, number + 1, rest);
}

function lineIn(name: string, number: number, bytes: Buffer): Line {
  const place = `line ${number} of ${name}`;
  if (bytes.length > LINE_BYTES_MAX)
    throw new UsageError(`${place} exceeds ${LINE_BYTES_MAX} bytes: no record takes as many`);
  return { number, text: (number === 1 ? wholeTextOf : textOf)(bytes, place) };
}

/**
 * The rows of CSV but blank ones, as RFC 4180 has it: objects of texts by the header's names, each
 * with the number of the line that it begins in. Throws a UsageError with that of a wrong one.
 */
export async function* rowsOf(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<{ readonly number: number; readonly row: Readonly<Record<string, string>> }> {
  let header: readonly string[] | undefined;
  for await (const { number, text } of wholeRowsOf(chunks, name)) {
    const refuse = (why: string): never => {
      throw new UsageError(`line ${number} of ${name} is no row of CSV: ${why}`);
    };
    const { data, errors } = papaparse.parse<string[]>(text, { delimiter: ',', newline: '\n' });
    const [fields = []] = data;
    if (errors.length > 0 || data.length !== 1)
      refuse(errors[0]?.message ?? 'a quote stands in a value without quotes');
    if (header === undefined) {
      const bad = fields.find((field, index) => field === '' || fields.indexOf(field) !== index);
      if (bad !== undefined) refuse(`the header holds the name ${JSON.stringify(bad)} twice, or it is empty`);
      header = fields;
      continue;
    }
    if (fields.length !== header.length) refuse(`it has ${fields.length} values, the header ${header.length} names`);
    yield { number, row: Object.fromEntries(header.map((field, index) => [field, fields[index]!])) };
  }
}

/** Joins lines until the number of quotes is even, as a value in quotes may span several lines. */
async function* wholeRowsOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Line> {
  let first = 0;
  let open = '';
  let isOpen = false;
  for await (const { number, text } of rawLinesOf(chunks, name)) {
    if (!isOpen) first = number;
    open = isOpen ? `${open}\n${text}` : text;
    if (open.length > LINE_BYTES_MAX)
      throw new UsageError(
        `the row at line ${first} of ${name} exceeds ${LINE_BYTES_MAX} characters: is a quote missing?`,
      );
    if ((text.split('"').length - 1) % 2 === 1) isOpen = !isOpen;
    if (isOpen) continue;
    if (open.trim() !== '') yield { number: first, text: open.replace(/\r$/, '') };
  }
  if (isOpen) throw new UsageError(`line ${first} of ${name} is no row of CSV: a quote is not closed`);
}
