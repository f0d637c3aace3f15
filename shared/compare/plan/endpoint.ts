// A function `compare` as its callers see it, and its failures in words.
import { z } from 'zod';
import type { Provider } from '../dimensions.ts';

/** A `compare` function to run cells in. */
export interface Endpoint {
  readonly provider: Provider;
  /** Without `/v1`. */
  readonly url: string;
  /** Sent with each request: the keys. */
  readonly headers: Readonly<Record<string, string>>;
}

const problemSchema = z.object({ title: z.string().optional(), detail: z.string().optional() });

/** One line about an answer that is no success; `body` is its parsed JSON, or undefined. */
export function problemOf(status: number, body: unknown): string {
  const problem = problemSchema.safeParse(body);
  const text = problem.success ? (problem.data.detail ?? problem.data.title) : undefined;
  return `HTTP ${status}${text === undefined ? '' : `: ${text}`}`;
}

/** One line about an error, with its cause: `fetch failed` alone tells nobody anything. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${text}${cause}`.replaceAll(/\s+/g, ' ');
}
