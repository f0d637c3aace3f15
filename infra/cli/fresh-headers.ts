// Keys and tokens of the functions `compare`, for a comparison that may take longer than they last.
import { type CloudEndpoint, EndpointError, headersFor, urlOf } from './endpoints.ts';
import type { AskTool } from './external-tools.ts';

/** ID tokens last an hour. */
const FRESH_MS = 30 * 60_000;

type RequestHeaders = Awaited<ReturnType<typeof headersFor>>;

/** Asks for keys and tokens again when they have aged. `nowMs`: a monotonic clock. */
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
