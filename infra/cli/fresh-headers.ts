// Keys and tokens for the functions `compare` of a comparison that may outlast them.
import { type CloudEndpoint, EndpointError, headersFor, urlOf } from './endpoints.ts';
import type { AskTool } from './tools.ts';

/** ID tokens last an hour. */
const FRESH_MS = 30 * 60_000;

/** Keys and tokens of the functions, asked for again when they have aged. */
export class FreshHeaders {
  readonly #clouds: readonly CloudEndpoint[];
  readonly #ask: AskTool;
  readonly #nowMs: () => number;
  readonly #known = new Map<string, { readonly askedMs: number; readonly headers: Promise<Record<string, string>> }>();

  /** `nowMs`: a monotonic clock. */
  constructor(clouds: readonly CloudEndpoint[], ask: AskTool, nowMs = () => performance.now()) {
    this.#clouds = clouds;
    this.#ask = ask;
    this.#nowMs = nowMs;
  }

  /**
   * Headers for a request to this address. Rejects where it has the origin of none of the
   * functions.
   */
  async of(url: string): Promise<Record<string, string>> {
    const { origin } = new URL(url);
    const cloud = this.#clouds.find((one) => new URL(urlOf(one, 'compare')).origin === origin);
    if (cloud === undefined) throw new EndpointError(`${origin} is no function of the file of endpoints`);
    const known = this.#known.get(cloud.cloud);
    if (known !== undefined && this.#nowMs() - known.askedMs < FRESH_MS) return await known.headers;
    const headers = headersFor(cloud, 'compare', 'compare', this.#ask);
    this.#known.set(cloud.cloud, { askedMs: this.#nowMs(), headers });
    try {
      return await headers;
    } catch (error) {
      // The next request asks again.
      this.#known.delete(cloud.cloud);
      throw error;
    }
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    const { href } = new URL(input instanceof Request ? input.url : input);
    for (const [name, value] of Object.entries(await this.of(href))) headers.set(name, value);
    return await fetch(input, { ...init, headers });
  };
}
