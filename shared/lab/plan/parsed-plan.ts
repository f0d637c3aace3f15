// Plans of every kind are JSON in a file.
import * as z from 'zod';

/** With its defaults filled in. Throws a TypeError with a line for each fault. */
export function parsedPlan<Schema extends z.ZodType>(text: string, schema: Schema): z.output<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new TypeError(`a plan is JSON: ${(error as Error).message}`, { cause: error });
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new TypeError(z.prettifyError(parsed.error));
  return parsed.data;
}
