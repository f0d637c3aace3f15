// Two clouds' deployed functions on this machine. They check requests as platforms and functions
// do, and keep records in memory.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Cloud } from '../../../../infra/package/bundle.ts';
import { listening } from '../../../support/listening.ts';
import { noKeys, type Secrets } from './stand-in-tools.ts';

/** The header without which the platform lets nobody in. */
const GATE = {
  gcp: ['x-serverless-authorization', 'Bearer an-identity-token'],
  azure: ['x-functions-key', 'an-azure-function-key'],
} as const;
const ROLES = ['read', 'write', 'admin', 'compare'];

export async function startDeployed() {
  const requests: string[] = [];
  const broken = new Map<Cloud, number>();
  const promises = new Map<string, string>();
  const secrets: Secrets = { gcp: noKeys(), azure: noKeys() };
  const serve = async (cloud: Cloud): Promise<Server> => {
    const records = new Map<string, string>();
    const server = createServer((incoming, outgoing) => {
      const { url: path = '', method = '', headers } = incoming;
      requests.push(`${cloud} ${method} ${path}`);
      void text(incoming).then((sent) => {
        const [name, value] = GATE[cloud];
        const isIn = headers[name] === value && keysOf(secrets, cloud, path).includes(headers.authorization ?? '');
        const examined = (): [number, string] => [200, promises.get(sent) ?? '{"checks":2,"broken":[]}'];
        const answer = () => (path === '/v1/compare/doctor' ? examined() : answerOf(records, method, path, sent));
        const [status, body] = isIn ? answer() : [401, 'not let in'];
        outgoing.writeHead(broken.get(cloud) ?? status, { Location: '/elsewhere' }).end(body);
      });
    });
    await listening(server);
    return server;
  };
  const [gcp, azure] = await Promise.all([serve('gcp'), serve('azure')]);
  return {
    /** Method, cloud and path of every request so far. */
    requests,
    secrets,
    /** From now on the cloud's functions answer so. */
    answerWith: (cloud: Cloud, status: number) => void broken.set(cloud, status),
    /** From now on this is what an examination of the transport answers. */
    examineAs: (transport: 'own' | 'sdk', answer: string) => void promises.set(JSON.stringify({ transport }), answer),
    /** Terraform's outputs. */
    outputs: {
      gcp: {
        functions: { records: { url: urlOf(gcp) }, compare: { url: urlOf(gcp) } },
        region: 'us-east4',
        keys: Object.fromEntries(ROLES.map((role) => [role, `stowage-dev-keys-${role}`])),
      },
      azure: {
        functions: {
          records: { app: 'records-app', url: urlOf(azure) },
          compare: { app: 'compare-app', url: urlOf(azure) },
        },
        resource_group: 'stowage-dev',
        keys: Object.fromEntries(ROLES.map((role) => [role, { vault: 'stowage-vault', secret: `keys-${role}` }])),
      },
    },
    close: async () => {
      await Promise.all([gcp, azure].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** The app keys that open a path, as headers carry them. A caller's key has its name before it. */
function keysOf(secrets: Secrets, cloud: Cloud, path: string): string[] {
  const roles = path.startsWith('/v1/compare') ? ['compare'] : ['read', 'write', 'admin'];
  const texts = roles.flatMap((role) => (secrets[cloud].read.get(role) ?? '').split(','));
  return texts.map((one) => `Bearer ${one.replace(/^.*=/, '')}`);
}

function answerOf(records: Map<string, string>, method: string, path: string, sent: string): [number, string] {
  if (path === '/v1/health') return [200, '{"status":"ok"}'];
  if (path === '/v1/tables') return [200, '{"tables":[{"name":"users"}]}'];
  if (method === 'PUT') records.set(path, sent);
  if (method === 'DELETE') records.delete(path);
  return method === 'GET' && !records.has(path) ? [404, 'no such record'] : [200, records.get(path) ?? ''];
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
