// CSV with a header, as RFC 4180 has it: every row is an object of texts by the header's names.
import papaparse from 'papaparse';
import { UsageError } from '../command-options.ts';
import { LINE_BYTES_MAX, rawLinesOf } from './files.ts';

export interface Row {
  /** The line that it begins in, from 1 on. */
  readonly number: number;
  readonly row: Readonly<Record<string, string>>;
}

/** The rows but blank ones. Throws a UsageError with the number of the line that is wrong. */
export async function* rowsOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Row> {
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
async function* wholeRowsOf(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<{ readonly number: number; readonly text: string }> {
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
