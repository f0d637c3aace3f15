// `serverless invoke`: one request to a function on each cloud. A body other than a string is JSON:
// {"path": "/v1/health", "method": "GET", "headers": {}, "body": ...}.
import * as z from 'zod';
import { headersFor, urlOf } from '../../cli/endpoints.ts';
import { readText } from '../../cli/text.ts';
import { askWith, type Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { openStacks, presentOf } from '../stack/stack.ts';

const REQUEST = z.strictObject({
  path: z.string().startsWith('/').default('/v1/health'),
  method: z.string().default('GET'),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.unknown().optional(),
});

type Invocation = z.infer<typeof REQUEST>;

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
  const invocation = await invocationOf(context.settings.functions, options);
  for (const stack of await openStacks(context)) {
    const name = stack.side.cloud;
    const { endpoint } = await presentOf(stack);
    if (endpoint === undefined) throw new DeployError(`${name}: no functions are deployed`);
    const role = options.function === 'compare' ? 'compare' : 'admin';
    const credentials = await headersFor(endpoint, options.function, role, askWith(context.run));
    const headers = { ...invocation.headers, ...credentials };
    await send(context, name, urlOf(endpoint, options.function), { ...invocation, headers });
  }
}

/** Throws a DeployError if the function is none of these. */
export function checkName(functions: readonly { readonly name: string }[], name: string): void {
  const names = functions.map((one) => one.name);
  if (!names.includes(name)) throw new DeployError(`there is no function ${name}; there are ${names.join(', ')}`);
}

/** Throws a DeployError if the function is none of these, or the data is no request. */
async function invocationOf(
  functions: readonly { readonly name: string }[],
  { function: name, data, path }: InvokeOptions,
): Promise<Invocation> {
  checkName(functions, name);
  try {
    const text = data ?? (path === undefined ? '{}' : await readText(path));
    return REQUEST.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new DeployError(`the data is to be like {"path": "/v1/tables", "method": "GET"}: ${why}`, { cause: error });
  }
}

/** Shows the answer. Throws a DeployError if that is an error. */
async function send(
  { log }: Context,
  name: string,
  url: string,
  { path, method, headers, body }: Invocation,
): Promise<void> {
  const isText = typeof body === 'string';
  const response = await fetch(url + path, {
    method,
    // Another place is given neither key nor gate.
    redirect: 'manual',
    headers: body === undefined || isText ? headers : { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  log(`${name}: HTTP ${response.status}\n${await response.text()}`);
  if (response.status >= 400) throw new DeployError(`${name} answered ${response.status}`);
}
