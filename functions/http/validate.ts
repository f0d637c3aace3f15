// Tells where values are wrong without quoting them. Imported as a namespace, `zod/mini` brings
// only a tenth of zod into the bundle.
import * as z from 'zod/mini';
import { Problem } from './problem.ts';

/** Places named in one Problem, and unknown members named in one place. */
const NAMED_MAX = 5;
/** Characters of an unknown member's name in a message: it may be as long as the body. */
const NAME_CHARS_MAX = 40;

/** The parsed value, or the Problem `invalid` with up to five places and reasons. */
export function parsed<Schema extends z.core.$ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = z.safeParse(schema, value, { error: reasonOf });
  if (result.success) return result.data;
  const issues = result.error.issues
    .slice(0, NAMED_MAX)
    .map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new Problem('invalid', issues.join('; '));
}

type Issue = z.core.$ZodRawIssue;
type Shaped = { readonly shape?: object };

/** Undefined if the schema has its own message, or the library's has to do. */
export function reasonOf(issue: Issue): string | undefined {
  // Both forms of zod report this.
  if (issue.code === 'unrecognized_keys')
    return unknownMembers(issue.keys, (issue.inst as Shaped | undefined)?.shape ?? {});
  const expected = expectedOf(issue);
  if (expected === undefined) return undefined;
  return `${issue.input === undefined ? 'it is missing; ' : ''}expected ${expected}`;
}

function expectedOf(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return Array.isArray(issue.options) ? oneOf(issue.options) : undefined;
    case 'invalid_format':
      return `text that matches ${issue.pattern}`;
    case 'too_small':
      return `${issue.minimum} or more${unitOf(issue.origin)}`;
    case 'too_big':
      return `at most ${issue.maximum}${unitOf(issue.origin)}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      break;
  }
  return undefined;
}

/** Words for zod's names of types, and for the class of bytes. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  array: 'an array',
  Uint8Array: 'bytes',
};

function unitOf(origin: string): string {
  return origin === 'array' ? ' items' : origin === 'string' ? ' characters' : '';
}

function oneOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(' or ');
}

/** Names the unknown members, and the known ones. */
export function unknownMembers(unknown: readonly string[], known: object): string {
  const names = unknown.slice(0, NAMED_MAX).map((name) => JSON.stringify(name.slice(0, NAME_CHARS_MAX)));
  return `unknown member ${names.join(', ')}; known: ${Object.keys(known).join(', ')}`;
}

/** Reads a number in this form alone. Number() would also take an empty text, spaces and 0x. */
export function numberLike(form: RegExp) {
  return z.transform((given: unknown) => (typeof given === 'string' && form.test(given) ? Number(given) : given));
}
