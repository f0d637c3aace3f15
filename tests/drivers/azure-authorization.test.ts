// Credentials of Azure: published signatures, tokens that end or never come, certificates, and each
// kind of credential on Azurite.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { AzureNamedKeyCredential, AzureSASCredential, generateAccountSas } from '@azure/data-tables';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startTableServer } from '../../infra/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import {
  authorizeWith,
  type Credential,
  Tokens,
  type TokenSource,
} from '../../shared/drivers/azure-tables/authorization.ts';
import { tableCalls } from '../../shared/drivers/azure-tables/table-calls.ts';
import { driverOn } from '../../shared/drivers/azure-tables/azure-driver.ts';
import { withDeadline } from '../../shared/drivers/common/driver-outcomes.ts';
import { CALL } from '../../shared/drivers/conformance/check-calls.ts';
import { brokenAmong, RECORDED } from '../../shared/drivers/conformance/run.ts';
import { selfSignedCertificate } from '../support/certificate.ts';
import { INSERT, READ } from './one-of-each.ts';
import { azureText, rawServer, type RawRequest, replyText } from './azure-service.ts';
import { closedAfterEach } from '../support/opened.ts';

const QUICK = { timeoutMs: 300 };
const WRITTEN = [{ kind: 'written' }];
const TAKEN = azureText(204, { ETag: 'v' });
// The service tells no version to a caller whom it denies.
const DENIED = replyText(401, { 'x-ms-request-id': '1', 'x-ms-error-code': 'InvalidAuthenticationInfo' });

const opened = closedAfterEach();

afterEach(() => void vi.useRealTimers());

describe('a shared key', () => {
  const devstore = { name: AZURITE_ACCOUNT_NAME, key: AZURITE_ACCOUNT_KEY };

  // Published with Microsoft's own SDKs: azure-sdk-for-js,
  // sdk/tables/data-tables/test/internal/sharedKeyCredential.spec.ts, and azure-sdk-for-node,
  // test/services/table/sharedkeylitetable-tests.js.
  test.each([
    [
      { name: 'accountName', key: 'accountKey' },
      '2020-09-03T18:50:45Z',
      "/tablename(PartitionKey='p1',RowKey='r1')",
      'SharedKeyLite accountName:mzKy4ZjXbTEueNQp2cxou+kKrfCnWpdau5I6kJIO58g=',
    ],
    [
      devstore,
      '2011-12-05T17:55:02Z',
      '/?comp=properties',
      'SharedKeyLite devstoreaccount1:b89upLBiJ54w3Ju3zBv4GzThZGj/M6C3CdTm1BySj28=',
    ],
  ])('a shared key signs as published, %o', async (credential, time, target, authorization) => {
    vi.useFakeTimers({ now: new Date(time) });
    const { headers, query } = await authorizeWith(credential)(target);
    expect(headers).toEqual(['x-ms-date', new Date(time).toUTCString(), 'Authorization', authorization]);
    expect(query).toBe('');
  });

  test('a credential that is changed in place signs with the new key from then on', async () => {
    vi.useFakeTimers({ now: 0 });
    const credential = new AzureNamedKeyCredential('one', 'a2V5');
    const authorize = authorizeWith(credential);
    const before = await authorize('/Tables');
    credential.update('two', 'a2V6');
    expect(await authorize('/Tables')).not.toEqual(before);
    expect(await authorize('/Tables')).toEqual(await authorizeWith({ name: 'two', key: 'a2V6' })('/Tables'));
  });
});

/** A credential whose tokens are `t1`, `t2` and so on, each valid for so long. */
function numbered(validMs: number) {
  let count = 0;
  const getToken = vi.fn<TokenSource['getToken']>(async () => {
    count += 1;
    return { token: `t${count}`, expiresOnTimestamp: Date.now() + validMs };
  });
  return { getToken };
}

describe('tokens', () => {
  test('a token is kept, shared by all who wait for it, and asked for with the scope of Azure Storage', async () => {
    const source = numbered(3_600_000);
    const tokens = new Tokens(source);
    expect(await Promise.all([tokens.get(), tokens.get()])).toEqual(['t1', 't1']);
    expect(tokens.get()).toBe('t1');
    expect(source.getToken).toHaveBeenCalledTimes(1);
    expect(source.getToken.mock.calls[0]![0]).toBe('https://storage.azure.com/.default');
  });

  test.each([
    ['shortly before one ends', undefined, 480_001],
    ['when one says so', 60_000, 60_001],
  ])('the next token is asked for %s, and one that has ended is not used', async (_, refreshAfterTimestamp, askMs) => {
    vi.useFakeTimers({ now: 0 });
    const source = numbered(600_000);
    source.getToken.mockResolvedValueOnce({ token: 't0', expiresOnTimestamp: 600_000, refreshAfterTimestamp });
    const tokens = new Tokens(source);
    await tokens.get();
    vi.setSystemTime(askMs - 2);
    expect(tokens.get()).toBe('t0');
    expect(source.getToken).toHaveBeenCalledTimes(1);
    vi.setSystemTime(askMs);
    expect(tokens.get()).toBe('t0');
    await vi.advanceTimersByTimeAsync(0);
    expect(tokens.get()).toBe('t1');
    vi.setSystemTime(askMs + 600_000);
    expect(await tokens.get()).toBe('t2');
  });

  test('a token serves to its end while no other is given, and the credential is asked every 3 s', async () => {
    vi.useFakeTimers({ now: 0 });
    const source = numbered(600_000);
    const tokens = new Tokens(source);
    await tokens.get();
    source.getToken.mockRejectedValue(new Error('no network'));
    vi.setSystemTime(500_000);
    for (let time = 0; time < 10; time += 1) {
      expect(tokens.get()).toBe('t1');
      await vi.advanceTimersByTimeAsync(600);
    }
    expect(source.getToken).toHaveBeenCalledTimes(3);
    vi.setSystemTime(599_500);
    await expect(tokens.get()).rejects.toMatchObject({ code: 'unavailable' });
  });
});

/** A driver with this credential; it may go over http: here, which the factory would refuse. */
async function servedWith(credential: TokenSource, answer: (request: RawRequest) => string) {
  const server = opened(await rawServer((request) => void request.socket.write(answer(request))));
  const endpoint = `http://127.0.0.1:${server.port}`;
  return { driver: opened(driverOn(tableCalls({ endpoint, tableName: 'table', credential }), false)), server };
}

const MISSING = { statusCode: 404, status: 404, code: 'ResourceNotFound' };

function throwing(): never {
  throw new Error('no identity');
}

describe('a token credential', () => {
  test('whose token is refused is asked for another, with which the refused write is sent again', async () => {
    let valid = 't1';
    const { driver, server } = await servedWith(numbered(3_600_000), ({ headers }) =>
      headers['authorization'] === `Bearer ${valid}` ? TAKEN : DENIED,
    );
    expect(await driver.write([INSERT], CALL)).toMatchObject(WRITTEN);
    valid = 't2';
    expect(await driver.write([INSERT], CALL)).toMatchObject(WRITTEN);
    const shown = server.requests.map(({ headers }) => headers['authorization']);
    expect(shown).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2']);
  });

  test('whose tokens are all refused has writes refused and reads denied, after two requests each', async () => {
    const { driver, server } = await servedWith(numbered(3_600_000), () => DENIED);
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'refused', reason: 'denied' }]);
    expect(server.requests).toHaveLength(2);
    await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'unavailable', retryable: false });
    expect(server.requests).toHaveLength(4);
  });

  test.each([
    ['rejects', () => Promise.reject(new Error('no identity'))],
    ['rejects in the words of a missing entity', () => Promise.reject(Object.assign(new Error(), MISSING))],
    ['has none', async () => null],
    ['answers nothing', async () => undefined as never],
    ['throws', throwing],
  ])('that %s sends nothing: a write is unsent, a read unavailable, and the next call asks again', async (_, fail) => {
    const source = numbered(3_600_000);
    const { driver, server } = await servedWith(source, () => TAKEN);
    source.getToken.mockImplementationOnce(fail).mockImplementationOnce(fail);
    const message = expect.stringMatching(/gave no token: sign in with az login, .*: (?!Cannot read)/) as string;
    const cause = { code: 'unavailable', retryable: true, message };
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'refused', reason: 'unsent', cause }]);
    await expect(driver.read(READ, CALL)).rejects.toMatchObject(cause);
    expect(server.requests).toHaveLength(0);
    expect(await driver.write([INSERT], CALL)).toMatchObject(WRITTEN);
  });

  test('that answers after the deadline no longer sends the write', async () => {
    const { promise, resolve } = Promise.withResolvers<{ token: string; expiresOnTimestamp: number }>();
    const { driver, server } = await servedWith({ getToken: () => promise }, () => TAKEN);
    expect(await driver.write([INSERT], QUICK)).toMatchObject([{ kind: 'refused', reason: 'unsent' }]);
    resolve({ token: 't', expiresOnTimestamp: Date.now() + 3_600_000 });
    expect(await driver.write([INSERT], CALL)).toMatchObject(WRITTEN);
    expect(server.requests).toHaveLength(1);
  });
});

describe('TLS', () => {
  const trusted = getCACertificates('default');
  const [whole, withoutAddress] = [selfSignedCertificate(), selfSignedCertificate([])];
  afterEach(() => setDefaultCACertificates(trusted));

  test.each([
    ['that nobody vouches for', whole, trusted],
    ['of another name', withoutAddress, [...trusted, withoutAddress.cert]],
  ])('to a server with a certificate %s nothing leaves', async (_, pair, certificates) => {
    setDefaultCACertificates(certificates);
    const server = opened(await rawServer(({ socket }) => socket.write(TAKEN), pair));
    const endpoint = `https://127.0.0.1:${server.port}`;
    const driver = opened(azureTablesDriver({ endpoint, tableName: 'table', credential: numbered(3_600_000) }));
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'refused', reason: 'unsent' }]);
    await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    expect(server.requests).toHaveLength(0);
  });
});

const ACCOUNT = new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY);

function signature(): string {
  const permissions = { query: true, add: true, write: true, update: true, delete: true, list: true };
  return generateAccountSas(ACCOUNT, {
    permissions,
    services: { table: true },
    resourceTypes: 'sco',
    expiresOn: new Date(Date.now() + 3_600_000),
  });
}

/** Azurite looks at a token's claims, not at who signed it. */
function tokenFor(audience: string): TokenSource {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { aud: audience, iss: 'https://sts.windows.net/tenant/', iat: now, nbf: now, exp: now + 3_600 };
  const token = [{ alg: 'none' }, claims, {}]
    .map((each) => Buffer.from(JSON.stringify(each)).toString('base64url'))
    .join('.');
  return { getToken: async () => ({ token, expiresOnTimestamp: (now + 3_600) * 1_000 }) };
}

/** Of these checks each sends other kinds of requests. */
const ALL_KINDS = RECORDED.filter(({ name }) => /removal at the present|several writes|is not listed/.test(name));

describe('Azurite', () => {
  const trusted = getCACertificates('default');
  let folder: string;
  let plain: Awaited<ReturnType<typeof startTableServer>>;
  let secure: Awaited<ReturnType<typeof startTableServer>>;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stowage-tls-'));
    const { cert, key } = selfSignedCertificate();
    const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
    await writeFile(files.certFile, cert);
    await writeFile(files.keyFile, key);
    setDefaultCACertificates([...trusted, cert]);
    [plain, secure] = await Promise.all([startTableServer(), startTableServer({ tls: files })]);
  });
  afterAll(async () => {
    setDefaultCACertificates(trusted);
    await Promise.all([plain.close(), secure.close(), rm(folder, { recursive: true })]);
  });

  test.each([
    ['a key', 'http', () => ({ credential: ACCOUNT })],
    ['a signature', 'http', () => ({ credential: new AzureSASCredential(signature()) })],
    ['a signature in the address', 'http', () => ({ query: `?${signature()}` })],
    ['a key', 'https', () => ({ credential: ACCOUNT })],
    ['a token', 'https', () => ({ credential: tokenFor('https://storage.azure.com') })],
  ])('takes %s over %s', async (_, scheme, how) => {
    const { query = '', ...rest } = how() as { readonly query?: string; readonly credential?: Credential };
    const endpoint = `${(scheme === 'https' ? secure : plain).address}/${AZURITE_ACCOUNT_NAME}${query}`;
    const driver = opened(azureTablesDriver({ endpoint, tableName: 'authorized', ...rest }));
    expect(ALL_KINDS).toHaveLength(3);
    expect(await brokenAmong(ALL_KINDS, driver, { isAtomic: true, open: () => driver })).toEqual([]);
  });

  test.each([
    ['a key of another account', () => ({ credential: { name: AZURITE_ACCOUNT_NAME, key: 'a2V5' } })],
    ['a signature that is wrong', () => ({ credential: { signature: signature().replace(/sig=[^&]+/, 'sig=AAAA') } })],
    ['a token for something else', () => ({ credential: tokenFor('https://example.org') })],
  ])('denies %s, so that writes are refused and reads are errors, not absence', async (_, how) => {
    const endpoint = `${secure.address}/${AZURITE_ACCOUNT_NAME}`;
    const driver = opened(azureTablesDriver({ endpoint, tableName: 'authorized', ...how() }));
    expect(await driver.write([INSERT], CALL)).toMatchObject([{ kind: 'refused', reason: 'denied' }]);
    await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'unavailable', retryable: false });
  });
});

test('a deadline in the past makes Node.js print no warning', async () => {
  const warned = vi.spyOn(process, 'emitWarning');
  await expect(withDeadline(new Promise(() => {}), -5)).rejects.toThrow('in time');
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});
