// Serves the live page. Browsers keep it, because on Azure each GET takes an instance.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { reply } from '../http/route.ts';

/** Reads the file that packaging wrote. `entryUrl`: of the entry's module. */
export function readLivePage(entryUrl: string): Uint8Array {
  return readFileSync(new URL('../compare/page.html', entryUrl));
}

/** The longest time until browsers show a new deployment. */
const FRESH_SECONDS = 600;

/** `page`: HTML with its style and script inline. */
export function pageServer(page: Uint8Array): () => Response {
  const headers = {
    'Cache-Control': `public, max-age=${FRESH_SECONDS}`,
    'Content-Security-Policy': policyOf(Buffer.from(page).toString()),
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept-Encoding',
  };
  return () => reply('text/html; charset=utf-8', page, headers);
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
