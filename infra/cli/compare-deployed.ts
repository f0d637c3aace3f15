// `stowage compare` and `serverless compare`: the comparison across deployed clouds. Every cell
// runs inside a function; this side asks for cells and writes the report.
import * as z from 'zod';
import { openLink } from '../../shared/lab/page/link.ts';
import { checkEndpoint, type Endpoint, RefusedError, type Sending } from '../../shared/lab/plan/endpoint.ts';
import { type ComparisonOptions, runComparison } from './comparison.ts';
import { type CloudEndpoint, EndpointError, endpointsSchema, headersFor, urlOf } from './endpoints.ts';
import { readText } from './terminal-text.ts';
import type { AskTool } from './external-tools.ts';

export interface CompareDeployedOptions extends Pick<
  ComparisonOptions,
  'plan' | 'baseline' | 'circumstances' | 'outDir' | 'signal' | 'log'
> {
  /** Path of the endpoints file that a deployment has written. */
  readonly endpointsFile: string;
  /** Which of its clouds take part. */
  readonly clouds: readonly CloudEndpoint['cloud'][];
  readonly ask: AskTool;
}

type LinkOptions = Pick<CompareDeployedOptions, 'endpointsFile' | 'clouds' | 'ask'>;

const PROVIDER_OF = { gcp: 'datastore', azure: 'azure-tables' } as const;

/** Gives the exit code. Rejects without a function, with a wrong key, or without a report. */
export async function compareDeployed(options: CompareDeployedOptions): Promise<number> {
  const { log, ask, signal } = options;
  const { stage, endpoints: deployed } = await endpointsIn(options.endpointsFile);
  const clouds = deployed.filter(({ cloud }) => options.clouds.includes(cloud));
  if (clouds.length === 0)
    throw new EndpointError(`${options.endpointsFile} names no function of ${options.clouds.join(' or ')}`);
  const keys = freshHeaders(clouds, ask);
  // A key that cannot be read is reported before anything runs.
  await Promise.all(clouds.map((cloud) => keys.of(urlOf(cloud, 'compare'))));
  const endpoints = clouds.map(endpointOf);
  await Promise.all(endpoints.map((endpoint) => refuseWrongKey({ endpoint, instance: 0, signal, fetch: keys.fetch })));
  log(`Comparing ${clouds.map(({ cloud }) => cloud).join(' and ')}, stage ${stage} ...`);
  return await runComparison({
    ...options,
    endpoints,
    why: { ran: 'deployed', leftOut: 'not asked for, or not in the file of endpoints' },
    fetch: keys.fetch,
  });
}

/** The link to the live page of the deployed functions, which holds the caller's own keys. */
export async function linkToDeployed({ endpointsFile, clouds, ask }: LinkOptions): Promise<string> {
  const deployed = (await endpointsIn(endpointsFile)).endpoints.filter(({ cloud }) => clouds.includes(cloud));
  const filled = await Promise.all(
    deployed.map(async (cloud) => {
      const { Authorization, ...gate } = await headersFor(cloud, 'compare', 'compare', ask);
      const [key, gateKey] = [Authorization, ...Object.values(gate)].map((text) => text?.replace(/^Bearer /, ''));
      return [PROVIDER_OF[cloud.cloud], urlOf(cloud, 'compare'), { key: key!, gate: gateKey! }] as const;
    }),
  );
  return openLink(
    Object.fromEntries(filled.map(([provider, url]) => [provider, url])),
    Object.fromEntries(filled.map(([provider, , keys]) => [provider, keys])),
  );
}

/** Only a refused key ends the comparison: other failures may pass, or are in the report. */
async function refuseWrongKey(sending: Sending): Promise<void> {
  try {
    await checkEndpoint(sending);
  } catch (error) {
    if (!(error instanceof RefusedError)) return;
    const { provider, urls } = sending.endpoint;
    throw new EndpointError(`nothing was begun: ${provider} at ${urls[0]} answers ${error.message}`, { cause: error });
  }
}

function endpointOf(cloud: CloudEndpoint): Endpoint {
  return { provider: PROVIDER_OF[cloud.cloud], urls: [urlOf(cloud, 'compare')], headers: {} };
}

async function endpointsIn(file: string): Promise<ReturnType<typeof endpointsSchema.parse>> {
  try {
    return endpointsSchema.parse(JSON.parse(await readText(file)));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new EndpointError(
      `${file} does not name deployed functions: \`npx serverless deploy\` or \`info\` writes it\n${why}`,
      { cause: error },
    );
  }
}

/** ID tokens last an hour. */
const FRESH_MS = 30 * 60_000;

type RequestHeaders = Awaited<ReturnType<typeof headersFor>>;

/** Asks for keys and tokens of functions again when they have aged. `nowMs`: a monotonic clock. */
export function freshHeaders(clouds: readonly CloudEndpoint[], ask: AskTool, nowMs = () => performance.now()) {
  const known = new Map<string, { readonly askedMs: number; readonly headers: Promise<RequestHeaders> }>();

  const headersOf = async (url: string): Promise<RequestHeaders> => {
    const { origin } = new URL(url);
    const cloud = clouds.find((one) => new URL(urlOf(one, 'compare')).origin === origin);
    if (cloud === undefined) throw new EndpointError(`${origin} is no function of the file of endpoints`);
    const last = known.get(cloud.cloud);
    if (last !== undefined && nowMs() - last.askedMs < FRESH_MS) return await last.headers;
    const headers = headersFor(cloud, 'compare', 'compare', ask);
    known.set(cloud.cloud, { askedMs: nowMs(), headers });
    try {
      return await headers;
    } catch (error) {
      // The next request asks again.
      known.delete(cloud.cloud);
      throw error;
    }
  };

  const fetchWithHeaders: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    const { href } = new URL(input instanceof Request ? input.url : input);
    for (const [name, value] of Object.entries(await headersOf(href))) headers.set(name, value);
    return await fetch(input, { ...init, headers });
  };

  /** `of` rejects for an address with the origin of none of the functions. */
  return { of: headersOf, fetch: fetchWithHeaders };
}
