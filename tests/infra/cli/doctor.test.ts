// `stowage doctor` passes on the emulators over both transports, leaves nothing behind, and names
// each difference that is planted into a place.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { placeAt } from '../../../infra/cli/doctor/cloud-places.ts';
import { type Examination, examine } from '../../../infra/cli/doctor/examine.ts';
import type { Place } from '../../../infra/cli/doctor/examined-place.ts';
import type { Recording } from '../../../infra/cli/doctor/recording.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startStrictAzurite } from '../../../infra/emulators/azurite.ts';
import { startDatastoreEmulator } from '../../../infra/emulators/datastore/index.ts';
import { networkOf } from '../../../infra/emulators/emulated-network.ts';
import { CALL, listAll } from '../../../shared/drivers/conformance/check-calls.ts';
import { RECORDED } from '../../../shared/drivers/conformance/contract-checks.ts';
import { refused } from '../../../shared/drivers/common/driver-outcomes.ts';
import { memoryDriver, type MemoryFaults, memoryState } from '../../../shared/drivers/memory.ts';
import { DATASTORE_PROFILE } from '../../../shared/drivers/slow/profiles.ts';
import { type Driver, type EntityVersion, partBytes, type Write } from '../../../shared/store/contract/driver.ts';
import { testFolder } from '../../support/folder.ts';
import { listening } from '../../support/listening.ts';
import { onDatastore, stowage } from './run-command.ts';

const ACCOUNT = `azure://${AZURITE_ACCOUNT_NAME}`;
const PROJECT = 'gcp://stowage-doctor';
const NEVER = new AbortController().signal;
const QUICK = { requests: 2, signal: NEVER, onLeft: () => {} };

async function strictAzurite() {
  const azurite = await startStrictAzurite();
  onTestFinished(() => azurite.close());
  return { azurite, env: { STOWAGE_TABLES_ENDPOINT: azurite.endpoint, STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY } };
}

function placeOn(address: string, env: Readonly<Record<string, string>>): Promise<Place> {
  return placeAt('--on', address, { ask: () => Promise.reject(new Error('no tool is asked')), env });
}

test.each([
  ['datastore', PROJECT, async () => onDatastore()],
  ['azure-tables', ACCOUNT, async () => (await strictAzurite()).env],
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
  [ACCOUNT, async () => (await strictAzurite()).env],
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

/** A place in memory whose driver is altered. */
function altered(alter: (driver: Driver) => Partial<Driver>, faults?: MemoryFaults): Place {
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
    transports: [{ name: 'own', isAtomic: false, open }],
    space: {},
    recorded: open,
    assumed: DATASTORE_PROFILE,
    serviceTimeMs: async () => Date.now(),
    region: async () => undefined,
    remove: async () => {},
    withoutSecrets: (text) => text,
  };
}

const AS_IT_IS = (): Partial<Driver> => ({});

/** A write on condition of whatever version the entity has. */
async function presentOf(driver: Driver, write: Write): Promise<Write> {
  const [entity] = await driver.read([{ id: write.id, parts: [] }], CALL);
  return write.kind === 'insert' || entity === undefined ? write : { ...write, version: entity.version };
}

const ignoresConditions = (driver: Driver): Partial<Driver> => ({
  write: async (writes, options) =>
    driver.write(await Promise.all(writes.map((write) => presentOf(driver, write))), options),
});

const losesPatches = (driver: Driver): Partial<Driver> => ({
  write: async (writes, options) =>
    writes[0]?.kind === 'patch' ? [{ kind: 'written', version: writes[0].version }] : driver.write(writes, options),
});

const takesLess = (driver: Driver): Partial<Driver> => ({
  write: async (writes, options) =>
    writes.some(({ parts }) => partBytes(parts) > 500_000)
      ? writes.map(() => refused('limit'))
      : driver.write(writes, options),
});

const listsWithoutOrder = (driver: Driver): Partial<Driver> => ({
  async list(prefix, cursor, count, options) {
    const page = await driver.list(prefix, cursor, count, options);
    return { ...page, ids: page.ids.toReversed() };
  },
});

const repeatsCursors = (driver: Driver): Partial<Driver> => ({
  async list(prefix, cursor, count, options) {
    const page = await driver.list(prefix, cursor, count, options);
    return { ...page, cursor: page.cursor && (cursor ?? page.cursor) };
  },
});

const tellsOtherVersions = (driver: Driver): Partial<Driver> => ({
  async write(writes, options) {
    const outcomes = await driver.write(writes, options);
    return outcomes.map((outcome) =>
      outcome.kind === 'written' && writes[0]?.kind === 'insert'
        ? { ...outcome, version: `W/${outcome.version}` as EntityVersion }
        : outcome,
    );
  },
});

const lies = (): Partial<Driver> => ({
  remove: async (removals) => removals.map(() => ({ kind: 'removed' })),
});

const cutsLongParts = (driver: Driver): Partial<Driver> => ({
  async read(requests, options) {
    const found = await driver.read(requests, options);
    return found.map(
      (entity) =>
        entity && {
          ...entity,
          parts: new Map([...entity.parts].map(([name, bytes]) => [name, bytes.subarray(0, 65_536)])),
        },
    );
  },
});

function everyFiftieth(): MemoryFaults {
  let calls = 0;
  return () => ((calls += 1) % 50 === 0 ? { fail: 'throttled' } : undefined);
}

const PLANTED: readonly (readonly [what: string, place: () => Place, broken: RegExp])[] = [
  ['ignores conditions', () => altered(ignoresConditions), /a patch at a stale version is refused and changes nothing/],
  ['loses patches', () => altered(losesPatches), /a patch changes the named parts and keeps the others/],
  ['takes smaller entities', () => altered(takesLess), /an entity of exactly the largest size is written and read/],
  ['lists without an order', () => altered(listsWithoutOrder), /a listing gives each id once, and in one order/],
  ['repeats a cursor', () => altered(repeatsCursors), /a listing gave the same cursor twice/],
  [
    'tells other versions',
    () => altered(tellsOtherVersions),
    /the version that a write answers is the one that a read/,
  ],
  ['acknowledges removals that it did not do', () => altered(lies), /a removal at the present version removes/],
  ['cuts long parts', () => altered(cutsLongParts), /a part grows to 300 KB, shrinks and goes/],
  [
    'applies a part of a request that should be atomic',
    () => ({
      ...altered(AS_IT_IS),
      transports: altered(AS_IT_IS).transports.map((one) => ({ ...one, isAtomic: true })),
    }),
    /no member of a request that failed is called written/,
  ],
];

test('doctor finds nothing broken in a place that keeps every promise', async () => {
  expect(await examine(altered(AS_IT_IS), QUICK)).toMatchObject({ broken: [], left: null });
});

test.each(PLANTED)('doctor finds a place broken that %s, and tells which promise', async (_, place, broken) => {
  const examination = await examine(place(), QUICK);
  expect(examination.broken.join('\n')).toMatch(broken);
});

test('doctor tells by the header Date that a clock is ten minutes off', async () => {
  const server = createServer((_, reply) => {
    reply.writeHead(403, { Date: new Date(Date.now() - 600_000).toUTCString() }).end();
  });
  onTestFinished(() => void server.close());
  const env = { STOWAGE_TABLES_ENDPOINT: `http://127.0.0.1:${await listening(server)}/x`, STOWAGE_TABLES_KEY: 'a2V5' };
  const place = await placeOn('azure://x', env);
  const serviceTimeMs = () => place.serviceTimeMs();
  const { broken } = await examine({ ...altered(AS_IT_IS), serviceTimeMs }, QUICK);
  expect(broken).toEqual([
    expect.stringMatching(/the clock of this machine is \d+ s ahead of the service's \(rule 21\)/),
  ]);
});

test('doctor counts the requests that a place throttles, unlike the profile assumed', async () => {
  const { unlike } = await examine(altered(AS_IT_IS, everyFiftieth()), QUICK);
  expect(unlike.join('\n')).toMatch(/own: \d+ requests were throttled/);
});

test('doctor tells which kinds of request a role may not send, and what to grant', async () => {
  const { azurite, env } = await strictAzurite();
  azurite.faults.add({ status: 403, code: 'AuthorizationPermissionMismatch', when: 'before', operation: 'merge' });
  const { broken } = await examine(await placeOn(ACCOUNT, env), QUICK);
  for (const name of ['own', 'sdk'])
    expect(broken.join('\n')).toContain(
      `${name}: requests to patch, replace, remove fail: azure denies access: grant Storage Table`,
    );
});

test('doctor counts throttled requests of both transports', async () => {
  const emulator = await startDatastoreEmulator();
  onTestFinished(() => emulator.close());
  const place = await placeOn(PROJECT, { DATASTORE_EMULATOR_HOST: emulator.address });
  let steps = 0;
  const onStep = (): void =>
    void (
      (steps += 1) % 20 === 0 &&
      emulator.faults.add({ code: 'RESOURCE_EXHAUSTED', when: 'before', rpc: 'Commit', times: 1 })
    );
  const { unlike } = await examine(place, { ...QUICK, onStep });
  expect(unlike.join('\n')).toMatch(/own: \d+ requests were throttled\nsdk: \d+ requests were throttled/);
});

test('doctor tells what it could not remove', async () => {
  const place = { ...altered(AS_IT_IS), remove: () => Promise.reject(new Error('no right to delete')) };
  const told: string[] = [];
  const { left } = await examine(place, { ...QUICK, onLeft: (what) => told.push(what) });
  expect([left, ...told]).toEqual(['memory: no right to delete', 'memory: no right to delete']);
});

test.each([
  ['gcp://p/d/e', 'gcp://PROJECT/DATABASE or azure://ACCOUNT'],
  ['azure://a/table', 'gcp://PROJECT/DATABASE or azure://ACCOUNT'],
  ['gcp://p?kind=K&x=1', 'takes the parameters'],
  ['gcp://p?kind=K', 'takes no kind'],
])('doctor refuses %s as a place', async (address, part) => {
  await expect(placeOn(address, { DATASTORE_EMULATOR_HOST: new URL(inject('embeddedEndpoint')).host })).rejects.toThrow(
    part,
  );
});
