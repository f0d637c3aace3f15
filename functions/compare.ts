// The function `compare`: runs one cell of the comparison here, next to its store, and serves the page that asks for cells. It keeps no
// state between requests. The page is static and open; every cell needs an admin's key.
import { createHash } from 'node:crypto';
import type { CellRequest, CellResult } from '../shared/compare/cell.ts';
import { cellRequestSchema } from '../shared/compare/cell.ts';
import { CellError } from '../shared/compare/run.ts';
import type { App, Call, FrameOptions } from './app.ts';
import { createApp, reply, replyJson } from './app.ts';
import { readBody } from './body.ts';
import { codecOf, negotiated, parseJson } from './content.ts';
import { queryOf } from './paths.ts';
import { Problem } from './problem.ts';
import { parsed } from './validate.ts';

export interface CompareAppOptions extends FrameOptions {
  readonly runCell: (request: CellRequest, signal: AbortSignal) => Promise<CellResult>;
  /** The page, as HTML with its style and script inline. */
  readonly page: string;
}

const CELL_BODY_BYTES_MAX = 16_384;

export function createCompareApp(options: CompareAppOptions): App {
  const page = pageResponse(options.page);
  return createApp(
    [
      { method: 'POST', path: '/v1/compare/cells', role: 'admin', handle: (call) => postCell(options, call) },
      {
        method: 'GET',
        path: '/v1/compare',
        role: undefined,
        handle: async ({ request }) => {
          queryOf(request, []);
          negotiated(request, ['text/html']);
          return page();
        },
      },
    ],
    options,
  );
}

async function postCell({ runCell }: CompareAppOptions, { request, bounds }: Call): Promise<Response> {
  queryOf(request, []);
  codecOf(request.headers.get('Content-Type'), ['json']);
  const cell = parsed(cellRequestSchema, parseJson(await readBody(request, CELL_BODY_BYTES_MAX, bounds.signal)));
  try {
    return replyJson(await runCell(cell, bounds.signal));
  } catch (error) {
    if (error instanceof CellError) throw new Problem('unavailable', error.message, { cause: error });
    if (bounds.signal.aborted)
      throw new Problem('aborted', 'the deadline, or the caller, ended the cell before its time', { cause: error });
    throw error;
  }
}

/** The page runs its own inline script and style, talks to its own origin, and nothing else. */
function pageResponse(html: string): () => Response {
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return () =>
    reply('text/html; charset=utf-8', html, { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' });
}

function hashesOf(html: string, element: 'script' | 'style'): string {
  const bodies = [...html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'))].map((match) => match[1]!);
  const hashes = bodies.map((body) => `'sha256-${createHash('sha256').update(body).digest('base64')}'`);
  return hashes.length === 0 ? "'none'" : hashes.join(' ');
}
