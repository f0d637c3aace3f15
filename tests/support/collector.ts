// A stand-in for a collector of OpenTelemetry: takes spans by OTLP/HTTP in JSON.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from './listening.ts';

/** A span as OTLP's JSON has it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string | number>> }[];
  readonly events: readonly { readonly name: string; readonly timeUnixNano: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface Collector {
  readonly endpoint: string;
  readonly spans: CollectedSpan[];
  readonly requests: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[];
  /** The next answers' status. */
  status: number;
  close(): void;
}

export async function startCollector(): Promise<Collector> {
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      const { resourceSpans } = JSON.parse(body) as {
        resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[];
      };
      collector.requests.push({ url: incoming.url, headers: incoming.headers });
      if (collector.status === 200)
        collector.spans.push(...resourceSpans.flatMap((each) => each.scopeSpans.flatMap(({ spans }) => spans)));
      outgoing.writeHead(collector.status, { 'Content-Type': 'application/json', Location: '/elsewhere' }).end('{}');
    });
  });
  const port = await listening(server);
  const collector: Collector = {
    endpoint: `http://127.0.0.1:${port}`,
    spans: [],
    requests: [],
    status: 200,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return collector;
}

/** The span's attributes by name. */
export function attributesOf({ attributes }: CollectedSpan): Record<string, string | number | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value['stringValue'] ?? value['intValue']]));
}
