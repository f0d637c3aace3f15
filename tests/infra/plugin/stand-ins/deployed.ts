// Two clouds' deployed functions on this machine. They check requests as platforms and functions
// do, and keep records in memory.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { listening } from '../../../support/listening.ts';
import { answerOf } from './clouds/records.ts';
import { mapValues } from './terraform-provider.ts';

/** Each cloud's callers have to send these. */
const CREDENTIALS = {
  gcp: { gate: { 'x-serverless-authorization': 'Bearer an-identity-token' }, key: 'gcp-app-key-00000000' },
  azure: { gate: { 'x-functions-key': 'an-azure-function-key' }, key: 'azure-app-key-000000' },
} as const;

export async function startDeployed() {
  const requests: string[] = [];
  const broken = new Map<string, number>();
  const serve = async (cloud: 'gcp' | 'azure'): Promise<Server> => {
    const records = new Map<string, string>();
    const server = createServer((incoming, outgoing) => {
      const path = incoming.url ?? '';
      requests.push(`${cloud} ${incoming.method} ${path}`);
      const { method = '', headers } = incoming;
      const { gate, key } = CREDENTIALS[cloud];
      const isLetIn = Object.entries(gate).every(([name, value]) => headers[name] === value);
      void text(incoming).then((sent) => {
        const asked = { method, path, headers: headers as Record<string, string>, body: sent };
        const { status, body } = isLetIn ? answerOf(asked, [key], records) : { status: 401, body: 'not the gate’s' };
        outgoing.writeHead(broken.get(cloud) ?? status, { Location: '/elsewhere' }).end(body);
      });
    });
    await listening(server);
    return server;
  };
  const [gcp, azure] = await Promise.all([serve('gcp'), serve('azure')]);
  const keys = { read: 1, write: 1, admin: 1, compare: 1 };
  return {
    /** Method, cloud and path of every request so far. */
    requests,
    /** From now on the cloud's functions answer so. */
    answerWith: (cloud: 'gcp' | 'azure', status: number) => void broken.set(cloud, status),
    /** Terraform's outputs. */
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
