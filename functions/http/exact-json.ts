// Checks that nothing of a user's JSON is lost when it is parsed.
import { decimalOf } from './decimal.ts';

/** A longer number is cut in a message. */
const LONG_NUMBER = /(?<=^.{40}).+/;

/**
 * Throws an Error about `what` if a number would be rounded or a name occurs twice in an object.
 * The JSON must not be too deep for recursion.
 */
export function checkExact(json: string, what: string): void {
  // An export has this form. Looking at each member takes several times as long.
  if (JSON.stringify(JSON.parse(json)) === json) return;
  // Begins at -1 because the reviver takes the whole value for a member too.
  let members = -1;
  JSON.parse(json, function (this: unknown, _: string, value: unknown, context?: { readonly source?: string }) {
    if (!Array.isArray(this)) members += 1;
    const source = context?.source;
    if (typeof value === 'number' && source !== undefined && !isExact(source, value))
      throw new Error(
        `${what} holds the number ${source.replace(LONG_NUMBER, '...')}, which would become ${value}: give it in quotes, as text`,
      );
    return value;
  });
  // Outside of strings each colon belongs to a member.
  const colons = json.replaceAll(/"(?:[^"\\]+|\\.)*"/g, '').split(':').length - 1;
  if (colons > members) throw new Error(`${what} holds an object with a name that stands twice: one would be lost`);
}

function isExact(source: string, value: number): boolean {
  return Number.isFinite(value) && decimalOf(source) === decimalOf(String(value));
}
