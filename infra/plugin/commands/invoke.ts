// `serverless invoke` and `invoke local`: one HTTP request to a function, on each cloud the command is for. The input is JSON:
// {"path": "/v1/health", "method": "GET", "headers": {}, "body": ...}; a body that is no string is sent as JSON.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { headersFor, urlOf } from '../../cli/endpoints.ts';
import { startClouds } from '../../start/clouds.ts';
import { askWith, type Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { openStacks, presentOf } from '../stack/stack.ts';

const REQUEST = z.strictObject({
  path: z.string().startsWith('/').default('/v1/health'),
  method: z.string().default('GET'),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.unknown().optional(),
});

/** The request to send. */
export type Invocation = z.infer<typeof REQUEST>;

/** Options as the framework passes them. */
export interface InvokeOptions {
  readonly function: string;
  readonly data?: string;
  /** A file with the data. */
  readonly path?: string;
}

/** Longer than the platforms let a request take. */
const REQUEST_TIMEOUT_MS = 240_000;

/** Throws a DeployError if an answer is an error. */
export async function invoke(context: Context, options: InvokeOptions): Promise<void> {
  const invocation = await invocationOf(context, options);
  for (const stack of await openStacks(context)) {
    const name = stack.side.cloud;
    const { endpoint } = await presentOf(stack);
    if (endpoint === undefined) throw new DeployError(`${name}: no functions are deployed`);
    const credentials = await headersFor(endpoint, options.function, 'admin', askWith(context.run));
    await send(context, { name, url: urlOf(endpoint, options.function), credentials }, invocation);
  }
}

/** Invokes a function on this machine: its package, in its cloud's host, against an emulator. Host and emulator end with the command. */
export async function invokeLocal(context: Context, options: InvokeOptions): Promise<void> {
  const invocation = await invocationOf(context, options);
  const { log, settings } = context;
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort(new DeployError('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const clouds = await startClouds({
    buildDir: settings.outDir,
    datastore: 'embedded',
    log,
    signal: interrupted.signal,
  });
  try {
    const wanted = clouds.running.filter(({ provider }) =>
      settings.clouds.includes(provider === 'datastore' ? 'gcp' : 'azure'),
    );
    for (const { name, recordsUrl, compareUrls, headers: credentials } of wanted) {
      const url = options.function === 'compare' ? compareUrls[0] : recordsUrl;
      await send(context, { name, url, credentials }, invocation);
    }
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await clouds.close();
  }
}

async function invocationOf({ settings }: Context, { function: name, data, path }: InvokeOptions): Promise<Invocation> {
  if (!settings.functions.some((one) => one.name === name)) {
    throw new DeployError(
      `there is no function ${name}; there are ${settings.functions.map((one) => one.name).join(', ')}`,
    );
  }
  const text = data ?? (path === undefined ? '{}' : await readFile(path, 'utf8'));
  try {
    return REQUEST.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new DeployError(`the data is to be like {"path": "/v1/tables", "method": "GET"}: ${why}`, { cause: error });
  }
}

/** One cloud's function. */
interface Invoked {
  /** Of the cloud, for people. */
  readonly name: string;
  readonly url: string;
  readonly credentials: Readonly<Record<string, string>>;
}

async function send({ log }: Context, { name, url, credentials }: Invoked, invocation: Invocation): Promise<void> {
  const { path, method, headers, body } = invocation;
  const isText = typeof body === 'string';
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body === undefined || isText ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
      ...credentials,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  log(`${name}: HTTP ${response.status}\n${await response.text()}`);
  if (response.status >= 400) throw new DeployError(`${name} answered ${response.status}`);
}
