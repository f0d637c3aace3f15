// The token of the function's own identity.
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { managedIdentity } from '../../../functions/azure/platform.ts';
import { listening } from '../../support/listening.ts';

test('the secret of the identity’s endpoint does not follow it to another place', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, outgoing) => {
    asked.push(url?.split('?')[0]);
    outgoing.writeHead(302, { Location: '/elsewhere' }).end();
  });
  const endpoint = `http://127.0.0.1:${await listening(server)}/token`;
  onTestFinished(() => void server.close());
  const identity = managedIdentity({ endpoint, secret: 'secret', clientId: undefined });
  await expect(identity.getToken('https://storage.azure.com/.default')).rejects.toThrow('fetch failed');
  expect(asked).toEqual(['/token']);
});
