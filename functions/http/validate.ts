// Tells where values are wrong without quoting them. Imported as a namespace, `zod/mini` brings
// only a tenth of zod into the bundle.
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
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

type Shaped = { readonly shape?: object };

const { localeError } = en();

/** The library's own words, but for unknown members also the known ones. */
export const reasonOf: z.core.$ZodErrorMap = (issue) =>
  issue.code === 'unrecognized_keys'
    ? unknownMembers(issue.keys, (issue.inst as Shaped | undefined)?.shape ?? {})
    : localeError(issue);

/** Names the unknown members, and the known ones. */
export function unknownMembers(unknown: readonly string[], known: object): string {
  const names = unknown.slice(0, NAMED_MAX).map((name) => JSON.stringify(name.slice(0, NAME_CHARS_MAX)));
  return `unknown member ${names.join(', ')}; known: ${Object.keys(known).join(', ')}`;
}

/** Reads a number in this form alone. Number() would also take an empty text, spaces and 0x. */
export function numberLike(form: RegExp) {
  return z.transform((given: unknown) => (typeof given === 'string' && form.test(given) ? Number(given) : given));
}
