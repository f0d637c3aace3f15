// Requests and replies of the drivers' own transports as they went over the wire, without
// credentials. Tests replay them: what a service answered once stays known.
import { type Check, entityId } from '../../../shared/drivers/conformance/check-calls.ts';
import { RECORDED } from '../../../shared/drivers/conformance/run.ts';
import type { HttpClient, HttpReply, HttpRequest } from '../../../shared/drivers/azure-tables/table-service.ts';
import type { Wire } from '../../../shared/drivers/datastore/datastore-calls.ts';
import { StatusError } from '../../../shared/drivers/datastore/grpc/call.ts';

/** One request and its reply. Requests compare as text. */
export interface Exchange {
  readonly request: string;
  readonly reply: string;
}

export interface Recording {
  readonly stowageRecording: 1;
  readonly recordedAt: string;
  readonly provider: 'datastore' | 'azure-tables';
  readonly isEmulator: boolean;
  readonly space: Readonly<Record<string, string>>;
  readonly exchanges: readonly Exchange[];
}

/** The same in each recording, so that the same check sends the same requests again. */
export function recordedPrefix(check: Check): ReturnType<typeof entityId> {
  return entityId(`recorded${RECORDED.indexOf(check)}-`);
}

/** Headers that say what a request asks. Those that authorize it are not kept. */
const ASKING = /^(if-match|content-type|prefer)$/i;
const ANSWERING = /^(etag|content-type|date|retry-after|x-ms-(version|request-id|error-code|continuation-.*))$/;
/** The query of a shared access signature. */
const SIGNATURE = /(?<=[?&])(s[vsprite]|srt|spr|sip|sig|tn|ses|sk\w+|[se][pr]k)=[^&]*&?/g;
/** Boundaries of transactions are random. */
const RANDOM = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

export function tableRequestText({ method, target, headers, body }: HttpRequest): string {
  const asking = headers.flatMap((name, at) =>
    at % 2 === 0 && ASKING.test(name) ? `${name}: ${headers[at + 1]}` : [],
  );
  const lines = [`${method} ${target.replace(SIGNATURE, '').replace(/[?&]$/, '')}`, ...asking, '', textIn(body)];
  return lines.join('\n').replaceAll(RANDOM, 'random');
}

/** A client that keeps requests and replies. */
export function recordingClient(exchanges: Exchange[]): (client: HttpClient) => HttpClient {
  return (client) => ({
    ...client,
    async send(asked, untilMs) {
      // Before sending, as the memory of the body is used again for the next request.
      const request = tableRequestText(asked);
      const reply = await client.send(asked, untilMs);
      exchanges.push({ request, reply: tableReplyText(reply) });
      return reply;
    },
  });
}

function tableReplyText({ status, headers, body }: HttpReply): string {
  const answering = Object.fromEntries(Object.entries(headers).filter(([name]) => ANSWERING.test(name)));
  return JSON.stringify({ status, headers: answering, body: textIn(body) });
}

function textIn(body: Uint8Array | undefined): string {
  return Buffer.from(body ?? []).toString('utf8');
}

export function datastoreRequestText({ path, message }: Parameters<Wire['unary']>[0]): string {
  return `${path}\n${message.toString('base64')}`;
}

/** A channel that keeps requests and replies. */
export function recordingChannel(exchanges: Exchange[]): (channel: Wire) => Wire {
  return (channel) => ({
    close: () => channel.close(),
    async unary(asked) {
      const request = datastoreRequestText(asked);
      try {
        const reply = await channel.unary(asked);
        exchanges.push({ request, reply: JSON.stringify({ message: reply.toString('base64') }) });
        return reply;
      } catch (error) {
        if (error instanceof StatusError)
          exchanges.push({ request, reply: JSON.stringify({ status: statusIn(error) }) });
        throw error;
      }
    },
  });
}

function statusIn({ code, message, isVerdict }: StatusError): object {
  return { code, message, isVerdict };
}
