// One structured line per request, which never has a value, a record's key or an access key.
import type { Problem } from './problem.ts';

export interface LogLine {
  readonly severity: 'INFO' | 'WARNING' | 'ERROR';
  readonly message: string;
  readonly requestId: string;
  /** W3C trace context of the request, if it had a well-formed one. */
  readonly traceparent?: string;
  readonly method: string;
  /** The route's pattern, never the path: a path holds keys. */
  readonly route: string;
  readonly table?: string;
  /** An admin's action, done or refused: `create`, `drop`, `vacuum`, else method and route. */
  readonly audit?: string;
  /** Role and name of the caller's key, as in auth.ts; absent without a configured key. */
  readonly role?: string;
  readonly key?: string;
  readonly status: number;
  /** The problem's code; absent on success. */
  readonly code?: string;
  /** The problem's `instance`, as its caller was told. */
  readonly instance?: string;
  readonly durationMs: number;
  /** Name and code of each cause of a 5xx, outermost first. Messages may quote data. */
  readonly causes?: readonly string[];
  /** The innermost's name, code and stack, without its message. */
  readonly stack?: string;
}

/** Takes the line of a request when its answer has ended. Must not throw. */
export type Log = (line: LogLine) => void;

/** Platforms collect standard output. */
export function logToStdout(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** `ERROR` for 5xx, `WARNING` for 429, otherwise `INFO`, as callers' mistakes need no alarm. */
export function severityOf(status: number): LogLine['severity'] {
  if (status >= 500) return 'ERROR';
  return status === 429 ? 'WARNING' : 'INFO';
}

const CAUSES_MAX = 8;

/** The chain of causes under a problem, for the log of a 5xx. */
export function causesOf(problem: Problem): Pick<LogLine, 'causes' | 'stack'> {
  const causes: string[] = [];
  let stack: string | undefined;
  for (let at: unknown = problem.cause; at instanceof Error && causes.length < CAUSES_MAX; at = at.cause) {
    const code = 'code' in at ? ` ${String(at.code)}` : '';
    const frames = at.stack?.match(/\n\s+at [^\n]+/g) ?? [];
    causes.push(`${at.name}${code}${frames[0]?.replace(/^\s+/, ' ') ?? ''}`);
    if (frames.length > 0) stack = `${at.name}:${code}${frames.join('')}`;
  }
  return stack === undefined ? { causes } : { causes, stack };
}
