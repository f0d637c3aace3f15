// Reads raw URLs strictly, so that no lenient decoder makes one key of two URLs.
import { Problem } from './problem.ts';

/** A target to a proxy begins with scheme and host (RFC 9112, 3.2.2). `/` for any other form. */
export function originForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#\\]*/i, '');
  return path.startsWith('/') ? path : '/';
}

/** The path as sent. Call `refuseAmbiguous` first, as `new Request` folds `.` and `..`. */
export function rawPath(url: string): string {
  return originForm(url).split(/[?#]/, 1)[0]!;
}

/** The query as sent, without the question mark. */
export function rawQuery(url: string): string {
  return /\?([^#]*)/.exec(url)?.[1] ?? '';
}

const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * Refuses targets that URL parsers would change: they turn backslashes, fold dot segments and drop
 * a bare `#` (RFC 9112, 3.2). Node's HTTP parser refuses bytes beyond ASCII.
 */
export function refuseAmbiguous(target: string): void {
  const [path = ''] = originForm(target).split('?', 1);
  if (target.includes('#')) throw new Problem('malformed', 'the request target holds a bare #: write it as %23');
  if (path.includes('\\')) throw new Problem('malformed', 'the path holds a bare \\: write it as %5C');
  if (DOT_SEGMENT.test(path)) throw new Problem('malformed', DOTS);
}

const DOTS = 'a segment of the path is . or ..: write such a key as /record?key=, no path carries it';

/** The query's parameters. Throws `invalid` for a name that is not allowed or occurs twice. */
export function queryOf(request: Request, allowed: readonly string[]): Partial<Record<string, string>> {
  const found: Partial<Record<string, string>> = {};
  for (const pair of rawQuery(request.url).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    // Forms and URLSearchParams write a space as a plus sign.
    const [rawName, rawValue] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    const name = decoded(rawName.replaceAll('+', ' '), 'query');
    if (!allowed.includes(name)) {
      const list = allowed.length === 0 ? 'this route takes none' : `known: ${allowed.join(', ')}`;
      throw new Problem('invalid', `unknown query parameter ${JSON.stringify(name)}; ${list}`);
    }
    if (found[name] !== undefined) throw new Problem('invalid', `query parameter ${name} stands twice`);
    found[name] = decoded(rawValue.replaceAll('+', ' '), 'query');
  }
  return found;
}

/** The text without its escapes. Throws the Problem `malformed` if they are not UTF-8. */
export function decoded(text: string, where: 'path' | 'query'): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Problem('malformed', `the ${where} holds an escape that is not UTF-8: write % as %25`);
  }
}
