// Stands in for the Functions host: `azure-process.ts <bundle>`. Enforces routes and authLevel.
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Binding, invoke, type RegisteredFunction, supplyFunctionsCore, writeLog } from './azure-core.ts';
import { type AzureRoute, matchRoute, routeOf } from './azure-routes.ts';

/** The platform ends every HTTP request after 230 s. */
const RESPONSE_TIMEOUT_MS = 230_000;

interface HttpFunction extends RegisteredFunction {
  readonly route: AzureRoute;
  readonly authLevel: string;
  readonly triggerName: string;
}

/** A timer is run by hand, as on the platform. No clock runs here. */
const TIMER_PATH = /^\/admin\/functions\/([\w-]+)$/;

const registered = supplyFunctionsCore();
const bundleDir = path.resolve(process.argv[2] ?? '');
const { main } = JSON.parse(readFileSync(path.join(bundleDir, 'package.json'), 'utf8')) as { main: string };
await import(pathToFileURL(path.join(bundleDir, main)).href);

if (registered.model === undefined) throw new Error(`${bundleDir} registers no function through @azure/functions`);
const { model } = registered;
const { HttpUri: httpUri } = await model.getCapabilities({});
if (httpUri === undefined)
  throw new Error('the entry must call app.setup({ enableHttpStream: true }): this host streams only');
const proxyPort = Number(new URL(httpUri).port);
const functions = httpFunctions(routePrefix());
const keyDigest = digestOf(process.env['AZURE_LOCAL_HOST_KEY'] ?? randomUUID());

const server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
// The platform limits the whole request; Node's own limit would end long uploads earlier.
server.requestTimeout = RESPONSE_TIMEOUT_MS;
server.listen(Number(process.env['PORT'] ?? 0));

function routePrefix(): string {
  const host = JSON.parse(readFileSync(path.join(bundleDir, 'host.json'), 'utf8')) as {
    extensions?: { http?: { routePrefix?: string } };
  };
  return host.extensions?.http?.routePrefix ?? 'api';
}

function httpFunctions(prefix: string): HttpFunction[] {
  return [...registered.functions.values()].flatMap((one) => {
    const found = triggerOf(one, 'httpTrigger');
    if (found === undefined) return [];
    const [triggerName, trigger] = found;
    const route = routeOf(`${prefix}/${trigger.route ?? one.metadata.name}`, trigger.methods ?? ['GET', 'POST']);
    return [{ ...one, route, authLevel: trigger.authLevel ?? 'anonymous', triggerName }];
  });
}

/** Name and binding of a function's trigger; undefined if it has none of this type. */
function triggerOf({ metadata }: RegisteredFunction, type: string): [string, Binding] | undefined {
  return Object.entries(metadata.bindings).find(([, binding]) => binding.type === type);
}

async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  // A target may name scheme and host, as one to a proxy does (RFC 9112, 3.2.2).
  incoming.url = (incoming.url ?? '/').replace(/^https?:\/\/[^/]*/i, '');
  const timer = incoming.method === 'POST' && registered.functions.get(TIMER_PATH.exec(incoming.url)?.[1] ?? '');
  const trigger = timer && triggerOf(timer, 'timerTrigger');
  if (timer && trigger) {
    if (!hasKey(incoming)) return answerOnly(outgoing, 401);
    const state = { Schedule: { AdjustForDST: true }, ScheduleStatus: null, IsPastDue: false };
    const inputData = [{ name: trigger[0], data: { json: JSON.stringify(state) } }];
    const given = { invocationId: randomUUID(), inputData, triggerMetadata: {}, traceContext: { traceParent: '' } };
    invoke(model, timer, given).catch((error: unknown) => logFailure(timer, error));
    return answerOnly(outgoing, 202);
  }
  const found = matchRoute(functions, incoming.method ?? '', incoming.url);
  if (found === undefined) return answerOnly(outgoing, 404);
  if (found.authLevel !== 'anonymous' && !hasKey(incoming)) return answerOnly(outgoing, 401);
  try {
    await answer(found, incoming, outgoing);
  } catch (error) {
    // The function did not fail if its caller has gone.
    if (outgoing.destroyed) return;
    logFailure(found, error);
    if (outgoing.headersSent) outgoing.destroy();
    else answerOnly(outgoing, 500);
  }
}

function logFailure({ metadata }: RegisteredFunction, error: unknown): void {
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  writeLog('error', 'system', `${metadata.name} failed: ${why}`);
}

/** An answer of the host's own, without a body. */
function answerOnly(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { 'Content-Length': 0 }).end();
}

function hasKey(incoming: IncomingMessage): boolean {
  const given = incoming.headers['x-functions-key'];
  return typeof given === 'string' && timingSafeEqual(digestOf(given), keyDigest);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** As the worker does: the library gets the request by its proxy, and its metadata by a call. */
async function answer(found: HttpFunction, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const invocationId = randomUUID();
  const given = {
    invocationId,
    inputData: [{ name: found.triggerName, data: {} }],
    triggerMetadata: { Headers: { json: JSON.stringify(incoming.headers) } },
    traceContext: { traceParent: String(incoming.headers['traceparent'] ?? '') },
  };
  // The first failure ends the request; the other one follows from it.
  await Promise.all([forward(invocationId, incoming, outgoing), invoke(model, found, given)]);
}

/** Sends the caller's request to the library's proxy, and its answer to the caller. */
function forward(invocationId: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = {
    ...endToEnd(incoming.headers),
    'x-ms-invocation-id': invocationId,
    'x-forwarded-host': incoming.headers.host ?? 'localhost',
    'x-forwarded-proto': 'http',
  };
  const { method, url } = incoming;
  const to = { host: '127.0.0.1', port: proxyPort, timeout: RESPONSE_TIMEOUT_MS };
  const upstream = httpRequest({ ...to, method, path: url, headers });
  upstream.once('timeout', () => upstream.destroy(new Error('no answer within the platform’s 230 s')));
  upstream.once('error', reject);
  upstream.once('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, endToEnd(answer.headers));
    answer.once('error', reject);
    answer.pipe(outgoing);
  });
  outgoing.once('finish', () => {
    // The function left the body unread: drain it from the connection instead of the proxy.
    incoming.unpipe(upstream).resume();
    if (!upstream.writableFinished) upstream.destroy();
    resolve();
  });
  outgoing.once('close', () => {
    if (outgoing.writableFinished) return;
    upstream.destroy();
    reject(new Error('the caller has gone'));
  });
  incoming.pipe(upstream);
  return promise;
}

/** Headers of one connection, or of this host: they must not be passed on. */
const HOP_BY_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'upgrade', 'x-ms-invocation-id']);

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}
