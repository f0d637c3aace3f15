// Refuses text that is not UTF-8: decoding would replace characters and say nothing.
import { readFile } from 'node:fs/promises';
import { withoutMark } from '../../functions/http/json-text.ts';
import { UsageError } from './command-options.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws a UsageError about `what`, with advice. */
export function textOf(bytes: Uint8Array, what: string, advice = 'save it as UTF-8'): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new UsageError(`${what} is not UTF-8: ${advice}`, { cause });
  }
}

/** As `textOf`, for a whole file or input: it may begin with a byte order mark. */
export function wholeTextOf(bytes: Uint8Array, what: string, advice?: string): string {
  return textOf(withoutMark(bytes), what, advice);
}

/** The text of a file. Throws a UsageError that names it. */
export async function readText(file: string): Promise<string> {
  return wholeTextOf(await readFile(file), file);
}
