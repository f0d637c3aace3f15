// The key of a record, made of the properties of an entity, object or row by a template, such as
// `{tenant}/{id}`.
import { PlainError } from './plain-place.ts';

/** Throws a PlainError for a template without a placeholder, or with a lone brace. */
export function keyTemplate(template: string): (partOf: (name: string) => unknown) => string {
  const pieces = template.split(/\{([^{}]+)\}/);
  if (pieces.length < 3 || pieces.some((piece, index) => index % 2 === 0 && /[{}]/.test(piece)))
    throw new PlainError(
      `${JSON.stringify(template)} is no template of keys: give text with names in braces, as {tenant}/{id}`,
    );
  return (partOf) => pieces.map((piece, index) => (index % 2 === 0 ? piece : keyPart(piece, partOf(piece)))).join('');
}

/** A property as text in a key. Throws a PlainError for one of another type. */
export function keyPart(name: string, part: unknown): string {
  if (typeof part === 'string') return part;
  if (typeof part === 'bigint' || typeof part === 'boolean' || Number.isSafeInteger(part)) return String(part);
  throw new PlainError(`its property ${name}, which the key is made of, is no text, whole number or boolean`);
}
