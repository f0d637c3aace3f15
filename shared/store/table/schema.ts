// Validates values before they are encoded. Values that are read were valid when they were written.
import { StoreError } from '../contract/errors.ts';
import type { SchemaIssue, StandardSchema } from '../contract/standard-schema.ts';
import { pathStep } from './check-value.ts';

/** The value as the schema makes it. Throws `invalid`, or a TypeError if it is asynchronous. */
export function validated(
  schema: StandardSchema | undefined,
  value: unknown,
  where: { table: string; key: string },
): unknown {
  if (schema === undefined) return value;
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) {
    // Nothing else would handle its rejection.
    result.catch(() => undefined);
    throw new TypeError('the schema of a table must be synchronous: await such checks before the call');
  }
  if (result.issues === undefined) return result.value;
  throw new StoreError('invalid', refusal(result.issues), { ...where, cause: result.issues });
}

function refusal(issues: readonly SchemaIssue[]): string {
  const [first, ...others] = issues;
  const path = (first?.path ?? []).map((step) => pathStep(typeof step === 'object' ? step.key : step));
  const more = others.length === 0 ? '' : ` (${others.length} more in the cause)`;
  return `the schema refuses value${path.join('')}: ${first?.message}${more}`;
}
