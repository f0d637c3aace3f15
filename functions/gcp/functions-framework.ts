// Google's functions-framework parses bodies and decodes paths: bad ones would get HTML pages.
// Importing this module shows it requests without both; the app gets them as they arrived.
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../http/app.ts';
import { type Arrival, serveNode } from '../http/node.ts';

const arrivals = new WeakMap<IncomingMessage, Arrival>();

subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage };
  arrivals.set(request, { url: request.url ?? '/', headers: { ...request.headers } });
  request.url = '/';
  // By these two it knows that there is a body.
  delete request.headers['content-length'];
  delete request.headers['transfer-encoding'];
});

/** A function as the framework calls it: exported by name from the bundle. */
export type FrameworkFunction = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** `app` is asked for at the first request. */
export function frameworkFunction(app: () => Promise<App>): FrameworkFunction {
  return async (incoming, outgoing) => {
    const arrival = arrivals.get(incoming) ?? { url: incoming.url ?? '/', headers: incoming.headers };
    const serving = await app();
    await serveNode(incoming, outgoing, arrival, (request) => serving.fetch(request, { target: arrival.url }));
  };
}
