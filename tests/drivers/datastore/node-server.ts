// A service over gRPC on Node's own HTTP/2 server, for what frames made by hand do not show:
// headers, TLS, flow control.
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { closedAfterEach } from '../../support/opened.ts';
import { listening } from '../../support/listening.ts';
import { RESPONSE_HEADERS } from './frames.ts';

/** Answers a request, when it has come whole, with these bytes and the status OK. */
export function replyWith(stream: ServerHttp2Stream, replyTo: (request: Buffer) => Uint8Array): void {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  stream.on('end', () => {
    stream.respond(RESPONSE_HEADERS, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(replyTo(Buffer.concat(parts)));
  });
}

/** A server whose connections end with the test; `seen` are the headers of all requests. */
export async function nodeServer(
  opened: ReturnType<typeof closedAfterEach>,
  serve: (stream: ServerHttp2Stream) => void,
  server: Http2Server = createServer(),
) {
  const sessions = new Set<{ destroy(): void }>();
  const seen: IncomingHttpHeaders[] = [];
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    seen.push(headers);
    serve(stream);
  });
  const close = (): void => {
    for (const session of sessions) session.destroy();
    server.close();
  };
  opened({ close });
  const port = await listening(server);
  return { port, address: `http://127.0.0.1:${port}`, seen };
}
