// The environment of the entries: what is accepted, and what is said about the rest.
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { createGate } from '../../../functions/http/auth.ts';
import {
  ConfigError,
  type Environment,
  functionConfig,
  parsedEnvironment,
} from '../../../functions/instance/config.ts';

const KEY = 'abcdefghijklmnop';

function by(key: string): Request {
  return new Request('http://localhost/', { headers: { Authorization: `Bearer ${key}` } });
}

const gateOf = (env: Environment) => createGate(functionConfig(env).auth);

describe('the environment of a function', () => {
  test('without any key lets nobody in', () => {
    const visitorOf = gateOf({});
    expect(() => visitorOf(by('undefined')).authorize('read')).toThrow('not one of the configured keys');
  });

  test('lets everybody in only when told so', () => {
    const visitorOf = gateOf({ STOWAGE_AUTH: 'none' });
    expect(() => visitorOf(new Request('http://localhost/')).authorize('admin')).not.toThrow();
  });

  test('takes two keys a role, and empty variables as absent', () => {
    const { auth } = functionConfig({ STOWAGE_READ_KEYS: `${KEY}1, ${KEY}2`, STOWAGE_WRITE_KEYS: '' });
    expect(auth).toEqual({ mode: 'keys', keys: { read: [`${KEY}1`, `${KEY}2`], write: [], admin: [], compare: [] } });
  });

  test('refuses text that was not UTF-8, by the name of its variable', () => {
    const schema = z.object({ STOWAGE_NAMESPACE: z.string() });
    expect(() => parsedEnvironment(schema, { STOWAGE_NAMESPACE: 'caf\u{fffd}' })).toThrow(
      'STOWAGE_NAMESPACE is not UTF-8',
    );
    expect(parsedEnvironment(schema, { STOWAGE_NAMESPACE: 'é', OTHER: '\u{fffd}' })).toEqual({
      STOWAGE_NAMESPACE: 'é',
    });
  });

  test('names the caller by the name of its key, or by its digest, and nobody by a wrong key', () => {
    const keys = { STOWAGE_READ_KEYS: `billing=${KEY}`, STOWAGE_WRITE_KEYS: `${KEY}b64==` };
    const visitorOf = gateOf(keys);
    expect(visitorOf(by(KEY)).caller).toEqual({ role: 'read', key: 'billing' });
    expect(() => visitorOf(by(KEY)).authorize('read')).not.toThrow();
    expect(visitorOf(by(`${KEY}b64==`)).caller).toEqual({
      role: 'write',
      key: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
    });
    expect(visitorOf(by(`billing=${KEY}`)).caller).toBeUndefined();
  });

  test.each([
    ['STOWAGE_AUTH', { STOWAGE_AUTH: 'off' }],
    ['STOWAGE_AUTH', { STOWAGE_AUTH: 'none', STOWAGE_READ_KEYS: KEY }],
    ['STOWAGE_READ_KEYS', { STOWAGE_READ_KEYS: 'secret' }],
    ['STOWAGE_READ_KEYS', { STOWAGE_READ_KEYS: 'a(tables=a)=secret-secret-00,secret-secret-00' }],
    ['STOWAGE_ADMIN_KEYS', { STOWAGE_READ_KEYS: 'a=secret-secret-00', STOWAGE_ADMIN_KEYS: 'b=secret-secret-00' }],
    ['STOWAGE_WRITE_KEYS', { STOWAGE_WRITE_KEYS: Array.from({ length: 33 }, (_, at) => `${KEY}${at}`).join(',') }],
    ...[
      '',
      'tables=*a',
      'table=a',
      'until=2027-12',
      'until=2027-02-30',
      'tables=auntil=2027-01-31',
      'until=2027-01-31;tables=a',
      'secret',
    ].map((limits): [string, Record<string, string>] => [
      'STOWAGE_READ_KEYS',
      { STOWAGE_READ_KEYS: `secret(${limits})=${KEY}` },
    ]),
    ['STOWAGE_READ_KEYS', { STOWAGE_READ_KEYS: `Secret(tables=a)=${KEY}` }],
    ['STOWAGE_READ_KEYS', { STOWAGE_READ_KEYS: 'a(tables=secret)=short' }],
    ['STOWAGE_ADMIN_KEYS', { STOWAGE_ADMIN_KEYS: `secret ${KEY}` }],
    ['STOWAGE_ADMIN_KEYS', { STOWAGE_ADMIN_KEYS: '@Microsoft.KeyVault(SecretUri=https://secret.vault)' }],
    ['STOWAGE_TIMEOUT_MS', { STOWAGE_TIMEOUT_MS: 'secret' }],
    ['STOWAGE_CONTAINER_BYTES_MAX', { STOWAGE_CONTAINER_BYTES_MAX: '16383' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'secret' }],
    ['OTEL_TRACES_SAMPLER', { OTEL_TRACES_SAMPLER: 'secret' }],
  ])('names %s when it is wrong, never its value', (name, env) => {
    expect(() => functionConfig(env)).toThrow(ConfigError);
    expect(() => functionConfig(env)).toThrow(name);
    expect(() => functionConfig(env)).not.toThrow('secret');
  });
});
