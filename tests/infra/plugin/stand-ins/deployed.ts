// Two clouds' deployed functions on this machine. They check requests as platforms and functions
// do, and keep records in memory.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listening } from '../../../support/listening.ts';
import { mapValues } from './terraform-provider.ts';

export interface Deployed {
  /** Terraform's outputs, by cloud. */
  readonly outputs: Readonly<Record<'gcp' | 'azure', object>>;
  /** Method, cloud and path of every request so far. */
  readonly requests: string[];
  /** From now on the cloud's functions answer so, if they answer otherwise than they should. */
  answerWith(cloud: 'gcp' | 'azure', status: number | undefined): void;
  close(): Promise<void>;
}

/** Each cloud's callers have to send these. */
const CREDENTIALS = {
  gcp: { 'x-serverless-authorization': 'Bearer an-identity-token', authorization: 'Bearer gcp-app-key-00000000' },
  azure: { 'x-functions-key': 'an-azure-function-key', authorization: 'Bearer azure-app-key-000000' },
} as const;

export async function startDeployed(): Promise<Deployed> {
  const requests: string[] = [];
  const broken = new Map<string, number>();
  const serve = async (cloud: 'gcp' | 'azure'): Promise<Server> => {
    const records = new Map<string, string>();
    const server = createServer((incoming, outgoing) => {
      const path = incoming.url ?? '';
      requests.push(`${cloud} ${incoming.method} ${path}`);
      void bodyOf(incoming).then((body) => {
        const [status, text] = answer(cloud, incoming, body, records);
        outgoing.writeHead(broken.get(cloud) ?? status, { Location: '/elsewhere' }).end(text);
      });
    });
    await listening(server);
    return server;
  };
  const [gcp, azure] = await Promise.all([serve('gcp'), serve('azure')]);
  const keys = { read: 1, write: 1, admin: 1, compare: 1 };
  return {
    requests,
    answerWith: (cloud, status) => void (status === undefined ? broken.delete(cloud) : broken.set(cloud, status)),
    outputs: {
      gcp: {
        functions: { records: { url: urlOf(gcp) }, compare: { url: urlOf(gcp) } },
        keys: mapValues(keys, (_, role) => ({ secret: `stowage-dev-keys-${role}`, version: '1' })),
      },
      azure: {
        functions: {
          records: { app: 'records-app', url: urlOf(azure) },
          compare: { app: 'compare-app', url: urlOf(azure) },
        },
        resource_group: 'stowage-dev',
        keys: { vault: 'stowage-vault', secrets: mapValues(keys, (_, role) => `keys-${role}-1`) },
      },
    },
    close: async () => {
      await Promise.all([gcp, azure].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answer(
  cloud: 'gcp' | 'azure',
  { method, url: path = '', headers }: IncomingMessage,
  body: string,
  records: Map<string, string>,
): [status: number, body: string] {
  const isLetIn = Object.entries(CREDENTIALS[cloud]).every(([name, value]) => headers[name] === value);
  if (!isLetIn) return [401, 'not these credentials'];
  if (path === '/v1/health') return [200, '{"status":"ok"}'];
  if (path === '/v1/tables') return [200, '{"tables":[{"name":"users"}]}'];
  if (method === 'PUT') records.set(path, body);
  return [200, records.get(path) ?? ''];
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return text;
}
