// Serves the live page. Browsers keep it, because on Azure each GET takes an instance.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { reply } from '../http/route.ts';
import { codingsOf } from '../http/gzip.ts';

/** HTML with its style and script inline, and the same compressed. */
export interface LivePage {
  readonly html: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

/** Reads the files that packaging wrote. `entryUrl`: of the entry's module. */
export function readLivePage(entryUrl: string): LivePage {
  const read = (suffix: string): Uint8Array => readFileSync(new URL(`../compare/page.html${suffix}`, entryUrl));
  return { html: read(''), br: read('.br'), gzip: read('.gz') };
}

/** The longest time until browsers show a new deployment. */
const FRESH_SECONDS = 600;

/** Answers a GET in the best encoding that the caller accepts, or 304 if it has that already. */
export function pageServer({ html, br, gzip }: LivePage): (request: Request) => Response {
  const text = Buffer.from(html).toString();
  const digest = createHash('sha256').update(html).digest('base64url').slice(0, 22);
  const forms = { br, gzip, identity: html };
  const common = {
    'Cache-Control': `public, max-age=${FRESH_SECONDS}`,
    'Content-Security-Policy': policyOf(text),
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept-Encoding',
  };
  return (request) => {
    const accepted = codingsOf(request);
    const encoding = (['br', 'gzip'] as const).find((one) => accepted.includes(one)) ?? 'identity';
    const etag = `"${digest}-${encoding}"`;
    const known = request.headers.get('If-None-Match')?.split(/\s*,\s*/) ?? [];
    if (known.some((one) => one.replace(/^W\//, '') === etag))
      return new Response(null, { status: 304, headers: { ...common, ETag: etag } });
    const encoded = encoding === 'identity' ? {} : { 'Content-Encoding': encoding };
    return reply('text/html; charset=utf-8', forms[encoding], { ...common, ...encoded, ETag: etag });
  };
}

/** The page may run its own script and style, and call functions over TLS or on this machine. */
function policyOf(html: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src-elem ${hashesOf(html, 'style')}`,
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self' https: http://localhost:* http://127.0.0.1:*",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function hashesOf(html: string, element: 'script' | 'style'): string {
  const bodies = [...html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'))].map((match) => match[1]!);
  const hashes = bodies.map((body) => `'sha256-${createHash('sha256').update(body).digest('base64')}'`);
  return hashes.length === 0 ? "'none'" : hashes.join(' ');
}
