// The datasets of a run, and their removal when the last cell has ended: one request for each, to the function that made it. Not measured.
import type { Provider } from '../dimensions.ts';
import { type Endpoint, messageOf, problemOf } from './endpoint.ts';

/** A dataset that could not be removed. */
export interface Leftover {
  readonly provider: Provider;
  readonly dataset: string;
  readonly error: string;
}

/** All of a run's datasets together may take so long; what is left then is reported. The run's own signal does not end it. */
const REMOVAL_TIMEOUT_MS = 180_000;

/** The function's own deadline comes first: its answer says more than a broken connection. */
const ANSWER_MARGIN_MS = 2_000;

/** The datasets that a run has begun to make, by endpoint. */
export class Datasets {
  readonly #made = new Map<Endpoint, Set<string>>();

  add(endpoint: Endpoint, dataset: string): void {
    const own = this.#made.get(endpoint) ?? new Set();
    this.#made.set(endpoint, own.add(dataset));
  }

  /** Removes all of them, one after the other at each endpoint; gives those that could not be. Never rejects. */
  async remove(send: typeof fetch = fetch): Promise<Leftover[]> {
    const endMs = performance.now() + REMOVAL_TIMEOUT_MS;
    const left = await Promise.all([...this.#made].map(([endpoint, own]) => removeOwn(endpoint, own, send, endMs)));
    return left.flat();
  }
}

async function removeOwn(
  endpoint: Endpoint,
  datasets: Iterable<string>,
  send: typeof fetch,
  endMs: number,
): Promise<Leftover[]> {
  const left: Leftover[] = [];
  for (const dataset of datasets) {
    try {
      await removeOne(endpoint, dataset, send, endMs - performance.now());
    } catch (error) {
      left.push({ provider: endpoint.provider, dataset, error: messageOf(error) });
    }
  }
  return left;
}

async function removeOne(
  { url, headers }: Endpoint,
  dataset: string,
  send: typeof fetch,
  leftMs: number,
): Promise<void> {
  const timeoutMs = Math.floor(leftMs) - ANSWER_MARGIN_MS;
  if (timeoutMs < 1) throw new Error('no time was left to remove it');
  const response = await send(`${url}/v1/compare/datasets/${dataset}`, {
    method: 'DELETE',
    headers: { ...headers, 'Stowage-Timeout-Ms': String(timeoutMs) },
    signal: AbortSignal.timeout(timeoutMs + ANSWER_MARGIN_MS),
  });
  if (!response.ok) throw new Error(problemOf(response.status, await response.json().catch(() => undefined)));
}
