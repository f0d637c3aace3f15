// The function `compare` whose cells run nothing, alone or behind a server.
import { createServer } from 'node:http';
import { createCompareApp, type CompareAppOptions } from '../../../functions/compare/compare-app.ts';
import type { App } from '../../../functions/http/http-app.ts';
import { serveNode } from '../../../functions/http/node.ts';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { fakeResult, placeOf } from '../../lab/fakes.ts';
import { listening } from '../../support/listening.ts';

/** Takes `key` alone, for comparisons. */
export function fakeCompareApp(provider: Provider, key: string, more: Partial<CompareAppOptions> = {}): App {
  return createCompareApp({
    auth: { mode: 'keys', keys: { read: [], write: [], admin: [], compare: [key] } },
    timeoutMs: 60_000,
    timeoutMaxMs: 300_000,
    log: () => {},
    page: new Uint8Array(),
    place: async () => placeOf(provider),
    runCell: async (request) => fakeResult(request, provider),
    prepareDataset: async () => {},
    examine: async () => ({ checks: 1, broken: [] }),
    removeDataset: async () => {},
    ...more,
  });
}

export async function serveApp(app: App): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((incoming, outgoing) => {
    const arrival = { url: incoming.url!, headers: incoming.headers };
    void serveNode(incoming, outgoing, arrival, (request) => app.fetch(request));
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, close: () => void server.close() };
}
