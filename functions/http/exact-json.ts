// JSON that a user gives, read whole: nothing of it is lost silently.
import { decimalOf } from './decimal.ts';

/** A longer number is cut in a message. */
const LONG_NUMBER = /(?<=^.{40}).+/;

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
    if (typeof value === 'number' && source !== undefined && !isExact(source, value))
      throw new Error(
        `${what} holds the number ${source.replace(LONG_NUMBER, '...')}, which would become ${value}: give it in quotes, as text`,
      );
    return value;
  });
  // Outside of strings a colon stands in members alone.
  const colons = json.replaceAll(/"(?:[^"\\]+|\\.)*"/g, '').split(':').length - 1;
  if (colons > members) throw new Error(`${what} holds an object with a name that stands twice: one would be lost`);
}

function isExact(source: string, value: number): boolean {
  return Number.isFinite(value) && decimalOf(source) === decimalOf(String(value));
}
