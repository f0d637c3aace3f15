// Checks what callers send against a schema, and says where it is wrong without quoting it.
import type { z } from 'zod';
import { Problem } from './problem.ts';

const ISSUES_MAX = 5;

/** The parsed value, or the Problem `invalid` with up to five places and reasons. */
export function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues
    .slice(0, ISSUES_MAX)
    .map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new Problem('invalid', issues.join('; '));
}
