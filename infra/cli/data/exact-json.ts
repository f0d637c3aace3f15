// JSON that a user gives, read whole: nothing of it is lost silently.
import { UsageError } from '../options.ts';

/** The text of a VALUE. Throws a UsageError. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError('VALUE is not UTF-8: --codec bytes takes it as it is', { cause });
  }
}

/**
 * Throws an Error about `what` for a number that would be rounded, and a name that stands twice.
 * Takes JSON that is not too deep to recurse into.
 */
export function checkExact(json: string, what: string): void {
  // As an export writes it. A look at each member takes several times as long.
  if (JSON.stringify(JSON.parse(json)) === json) return;
  // The reviver sees the whole value as a member too.
  let members = -1;
  JSON.parse(json, function (this: unknown, _: string, value: unknown, context?: { readonly source?: string }) {
    if (!Array.isArray(this)) members += 1;
    const source = context?.source;
    if (typeof value === 'number' && source !== undefined && decimalOf(source) !== decimalOf(String(value)))
      throw new Error(`${what} holds the number ${source}, which would become ${value}: give it in quotes, as text`);
    return value;
  });
  // Outside of strings a colon stands in members alone.
  const colons = json.replaceAll(/"(?:[^"\\]+|\\.)*"/g, '').split(':').length - 1;
  if (colons > members) throw new Error(`${what} holds an object with a name that stands twice: one would be lost`);
}

/** The digits of a number in JSON and their power of ten: the same for 100, 1e2 and 100.0. */
function decimalOf(text: string): string {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return short === '' ? '0' : `${short}e${Number(power) - fraction.length + digits.length - short.length}`;
}
