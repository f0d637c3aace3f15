// Google's functions-framework parses bodies and decodes paths, and answers bad ones with HTML.
// This module hides both from it, and hands the requests to the app as they arrived.
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
  // Without these two the framework sees no body.
  delete request.headers['content-length'];
  delete request.headers['transfer-encoding'];
});

/** A function as the framework calls it, by the name under which the bundle exports it. */
export type FrameworkFunction = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Hands the app each request as it arrived. While the instance ends, it refuses requests. */
export function frameworkFunction(app: Pick<App, 'fetch'>): FrameworkFunction {
  return async (incoming, outgoing) => {
    const arrival = arrivals.get(incoming) ?? { url: incoming.url ?? '/', headers: incoming.headers };
    const answered = takeRequest();
    if (answered === undefined) return serveNode(incoming, outgoing, arrival, refusal);
    outgoing.once('close', answered);
    await serveNode(incoming, outgoing, arrival, (request) => app.fetch(request, { target: arrival.url }));
  };
}

/** Makes the caller open another connection, which the platform leads to another instance. */
async function refusal(): Promise<Response> {
  const headers = { 'Retry-After': RETRY_AFTER_SECONDS, Connection: 'close' };
  const problem = new Problem('unavailable', 'this instance is ending: send the request again', { headers });
  return problemResponse(problem, `urn:uuid:${randomUUID()}`);
}
