// Google's functions-framework parses bodies and decodes paths: bad ones would get HTML pages.
// Importing this module shows it requests without both; the app gets them as they arrived.
import { randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../http/http-app.ts';
import { type Arrival, serveNode } from '../http/node.ts';
import { Problem, problemResponse, RETRY_AFTER_SECONDS } from '../http/problem.ts';
import { takeRequest } from '../instance/lifetime.ts';

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

/** Hands the app each request as it arrived. An instance that ends refuses it. */
export function frameworkFunction(app: Pick<App, 'fetch'>): FrameworkFunction {
  return async (incoming, outgoing) => {
    const arrival = arrivals.get(incoming) ?? { url: incoming.url ?? '/', headers: incoming.headers };
    const answered = takeRequest();
    if (answered === undefined) return serveNode(incoming, outgoing, arrival, refusal);
    outgoing.once('close', answered);
    await serveNode(incoming, outgoing, arrival, (request) => app.fetch(request, { target: arrival.url }));
  };
}

/** The platform sends what comes now to another instance, on another connection. */
async function refusal(): Promise<Response> {
  const headers = { 'Retry-After': RETRY_AFTER_SECONDS, Connection: 'close' };
  const problem = new Problem('unavailable', 'this instance is ending: send the request again', { headers });
  return problemResponse(problem, `urn:uuid:${randomUUID()}`);
}
