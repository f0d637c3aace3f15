// `stowage doctor` passes on the emulators over both transports, leaves nothing behind, and names
// each difference that is planted into a place.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { placeAt } from '../../../infra/cli/doctor/cloud-places.ts';
import { type Examination, examine, type Place } from '../../../infra/cli/doctor/examine.ts';
import type { Recording } from '../../../infra/cli/doctor/recording.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startStrictAzurite } from '../../../infra/emulators/azurite.ts';
import { networkOf } from '../../../infra/emulators/emulated-network.ts';
import { CALL, listAll } from '../../../shared/drivers/conformance/check-calls.ts';
import { RECORDED } from '../../../shared/drivers/conformance/run.ts';
import { refused } from '../../../shared/drivers/common/driver-outcomes.ts';
import { memoryDriver, type MemoryFaults, memoryState } from '../../../shared/drivers/memory.ts';
import { DATASTORE_PROFILE } from '../../../shared/drivers/slow/profiles.ts';
import { type Driver, type EntityVersion, partBytes, type Write } from '../../../shared/store/contract/driver.ts';
import { failingNetwork } from '../../support/failing-network.ts';
import { testFolder } from '../../support/folder.ts';
import { listening } from '../../support/listening.ts';
import { onDatastore, stowage } from './run-command.ts';

const ACCOUNT = `azure://${AZURITE_ACCOUNT_NAME}`;
const PROJECT = 'gcp://stowage-doctor';
const NEVER = new AbortController().signal;
const QUICK = { requests: 2, signal: NEVER, onLeft: () => {} };

/** The environment of a strict Azurite. */
async function strictAzurite(options?: Parameters<typeof startStrictAzurite>[0]) {
  const azurite = await startStrictAzurite(options);
  onTestFinished(() => azurite.close());
  return { STOWAGE_TABLES_ENDPOINT: azurite.endpoint, STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY };
}

function placeOn(address: string, env: Readonly<Record<string, string>>): Promise<Place> {
  return placeAt('--on', address, { ask: () => Promise.reject(new Error('no tool is asked')), env });
}

test.each([
  ['datastore', PROJECT, async () => onDatastore()],
  ['azure-tables', ACCOUNT, async () => strictAzurite()],
] as const)(
  'doctor finds every promise kept by the emulator of %s over both transports',
  async (provider, address, environment) => {
    const folder = await testFolder();
    const [file, recorded] = [path.join(folder, 'doctor.json'), path.join(folder, 'recorded.json')];
    const args = ['doctor', '--on', address, '--requests', '3', '--out', file, '--record', recorded];
    const env = await environment();
    const { code, stdout } = await stowage(args, { env });
    expect(stdout).toContain('Verdict: it keeps every promise that was tried.');
    expect(code).toBe(0);
    const text = await readFile(file, 'utf8');
    const report = JSON.parse(text) as Examination;
    expect(report).toMatchObject({ provider, isEmulator: true, broken: [], left: null });
    expect(report.transports.map(({ transport, broken }) => [transport, broken])).toEqual([
      ['own', []],
      ['sdk', []],
    ]);
    expect(report.clockAheadMs).toEqual(expect.any(Number));
    const recording = await readFile(recorded, 'utf8');
    expect((JSON.parse(recording) as Recording).exchanges.length).toBeGreaterThan(RECORDED.length);
    expect(text + recording).not.toContain(AZURITE_ACCOUNT_KEY);
    // The comparison's emulators take the report for a network, and the other cloud as it was.
    expect(networkOf(file).profiles[provider]).toEqual(report.profile);
    expect(() => networkOf(recorded)).toThrow('is no report of stowage doctor');
  },
);

test.each([
  [PROJECT, async () => onDatastore()],
  [ACCOUNT, async () => strictAzurite()],
] as const)('doctor removes what it wrote when its examination of %s is ended', async (address, environment) => {
  const place = await placeOn(address, await environment());
  const controller = new AbortController();
  let steps = 0;
  const onStep = (): void => void ((steps += 1) === 12 && controller.abort(new Error('ended by the test')));
  await expect(examine(place, { ...QUICK, signal: controller.signal, onStep })).rejects.toThrow('ended by the test');
  const driver = place.transports[0]!.open();
  onTestFinished(() => driver.close());
  expect(await listAll(driver, '', 1_000)).toEqual([]);
});

type Alter = (driver: Driver) => Partial<Driver>;

/** A place in memory whose driver is altered. */
function altered(alter: Alter = () => ({}), faults?: MemoryFaults, isAtomic = false): Place {
  const state = memoryState();
  const open = (): Driver => {
    const driver = memoryDriver({ state, ...(faults && { faults }) });
    return { ...driver, ...alter(driver) };
  };
  return {
    provider: 'datastore',
    address: 'memory',
    isEmulator: true,
    name: 'memory',
    transports: [{ name: 'own', isAtomic, open }],
    space: {},
    recorded: open,
    assumed: DATASTORE_PROFILE,
    serviceTimeMs: async () => Date.now(),
    region: async () => undefined,
    remove: async () => {},
    withoutSecrets: (text) => text,
  };
}

type Outcomes = ReturnType<Driver['write']>;

/** Alters writes; `write` sends them on. */
const writing =
  (
    change: (writes: readonly Write[], write: (some: readonly Write[]) => Outcomes, driver: Driver) => Outcomes,
  ): Alter =>
  (driver) => ({ write: (writes, options) => change(writes, (some) => driver.write(some, options), driver) });

type Page = Awaited<ReturnType<Driver['list']>>;

/** Alters pages of listings. */
const listing =
  (change: (page: Page, cursor: Page['cursor']) => Page): Alter =>
  (driver) => ({
    list: async (prefix, cursor, count, options) => change(await driver.list(prefix, cursor, count, options), cursor),
  });

/** A write on condition of whatever version the entity has. */
async function presentOf(driver: Driver, write: Write): Promise<Write> {
  const [entity] = await driver.read([{ id: write.id, parts: [] }], CALL);
  return write.kind === 'insert' || entity === undefined ? write : { ...write, version: entity.version };
}

const PLANTED: readonly (readonly [what: string, alter: Alter, broken: RegExp])[] = [
  [
    'ignores conditions',
    writing(async (writes, write, driver) => write(await Promise.all(writes.map((one) => presentOf(driver, one))))),
    /a patch at a stale version is refused and changes nothing/,
  ],
  [
    'loses patches',
    writing(async (writes, write) =>
      writes[0]?.kind === 'patch' ? [{ kind: 'written', version: writes[0].version }] : write(writes),
    ),
    /a patch changes the named parts and keeps the others/,
  ],
  [
    'takes smaller entities',
    writing(async (writes, write) =>
      writes.some(({ parts }) => partBytes(parts) > 500_000) ? writes.map(() => refused('limit')) : write(writes),
    ),
    /an entity of exactly the largest size is written and read/,
  ],
  [
    'lists without an order',
    listing((page) => ({ ...page, ids: page.ids.toReversed() })),
    /a listing gives each id once, and in one order/,
  ],
  [
    'repeats a cursor',
    listing((page, cursor) => ({ ...page, cursor: page.cursor && (cursor ?? page.cursor) })),
    /a listing gave the same cursor twice/,
  ],
  [
    'tells other versions',
    writing(async (writes, write) =>
      (await write(writes)).map((outcome) =>
        outcome.kind === 'written' && writes[0]?.kind === 'insert'
          ? { ...outcome, version: `W/${outcome.version}` as EntityVersion }
          : outcome,
      ),
    ),
    /the version that a write answers is the one that a read/,
  ],
  [
    'acknowledges removals that it did not do',
    () => ({ remove: async (removals) => removals.map(() => ({ kind: 'removed' })) }),
    /a removal at the present version removes/,
  ],
];

test.each(PLANTED)('doctor finds a place broken that %s, and tells which promise', async (_, alter, broken) => {
  const examination = await examine(altered(alter), QUICK);
  expect(examination.broken.join('\n')).toMatch(broken);
});

test('doctor finds a place broken that applies a part of a request that should be atomic', async () => {
  const { broken } = await examine(altered(undefined, undefined, true), QUICK);
  expect(broken.join('\n')).toMatch(/no member of a request that failed is called written/);
});

test('doctor tells by the header Date that a clock is ten minutes off', async () => {
  const server = createServer((_, reply) => {
    reply.writeHead(403, { Date: new Date(Date.now() - 600_000).toUTCString() }).end();
  });
  onTestFinished(() => void server.close());
  const env = { STOWAGE_TABLES_ENDPOINT: `http://127.0.0.1:${await listening(server)}/x`, STOWAGE_TABLES_KEY: 'a2V5' };
  const place = await placeOn('azure://x', env);
  const serviceTimeMs = () => place.serviceTimeMs();
  const { broken } = await examine({ ...altered(), serviceTimeMs }, QUICK);
  expect(broken).toEqual([
    expect.stringMatching(/the clock of this machine is \d+ s ahead of the service's \(rule 21\)/),
  ]);
});

test('doctor counts the requests that a place throttles, unlike the profile assumed', async () => {
  let calls = 0;
  const { unlike } = await examine(
    altered(undefined, () => ((calls += 1) % 50 === 0 ? { fail: 'throttled' } : undefined)),
    QUICK,
  );
  expect(unlike.join('\n')).toMatch(/own: \d+ requests were throttled/);
});

test('doctor tells which kinds of request a role may not send, and what to grant', async () => {
  const network = failingNetwork<{ status: number; code: string }>();
  network.fail(
    { refusal: { status: 403, code: 'AuthorizationPermissionMismatch' } },
    { meets: ({ operations }) => operations?.includes('merge') === true },
  );
  const env = await strictAzurite({ network });
  const { broken } = await examine(await placeOn(ACCOUNT, env), QUICK);
  for (const name of ['own', 'sdk'])
    expect(broken.join('\n')).toContain(
      `${name}: requests to patch, replace, remove fail: azure denies access: grant Storage Table`,
    );
});

test('doctor tells what it could not remove', async () => {
  const place = { ...altered(), remove: () => Promise.reject(new Error('no right to delete')) };
  const told: string[] = [];
  const { left } = await examine(place, { ...QUICK, onLeft: (what) => told.push(what) });
  expect([left, ...told]).toEqual(['memory: no right to delete', 'memory: no right to delete']);
});
