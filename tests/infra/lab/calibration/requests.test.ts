// Requests of each kind on both emulators, and the rows of the model's table that their times make.
import { expect, inject, onTestFinished, test } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../../../infra/emulators/azurite.ts';
import {
  type Account,
  azureAccount,
  DATASET,
  datastoreAccount,
} from '../../../../infra/lab/calibration/requests/account.ts';
import { measureRequests, rowsOf, type Sample } from '../../../../infra/lab/calibration/requests/measure.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';

process.env['METADATA_SERVER_DETECTION'] ??= 'none';

const OPTIONS = { times: 3, signal: new AbortController().signal, log: () => {} };
const CONNECTION = `DefaultEndpointsProtocol=https;AccountName=${AZURITE_ACCOUNT_NAME};AccountKey=${AZURITE_ACCOUNT_KEY}`;

/** Opens accounts on one emulator of the provider. */
const EMULATED: Readonly<Record<Provider, () => Promise<() => Account>>> = {
  datastore: async () => () => datastoreAccount('calibrated', inject('embeddedEndpoint').replace('http://', '')),
  'azure-tables': async () => {
    const azurite = await startAzurite({ inProcess: true });
    onTestFinished(() => azurite.close());
    return () => azureAccount(`${CONNECTION};TableEndpoint=${azurite.endpoint}`);
  },
};

/** Counts the entities left in the dataset, by the driver and by the SDK. */
async function left({ baseline, driver }: Account): Promise<number> {
  const count = await (await baseline.open(DATASET)).scan();
  await baseline.remove(DATASET, OPTIONS.signal);
  await Promise.all([baseline.close(), driver.close()]);
  return count;
}

test.each(['datastore', 'azure-tables'] as const)(
  'each kind of request goes to %s, and all is removed',
  async (name) => {
    const open = await EMULATED[name]();
    const lines: string[] = [];
    const samples = await measureRequests(open(), { ...OPTIONS, log: (line) => lines.push(line) });
    const kinds = name === 'datastore' ? ['getMany'] : ['transaction'];
    expect(new Set(samples.map(({ kind }) => kind))).toEqual(new Set(['commit', 'get', 'list', 'query', ...kinds]));
    for (const { timesMs } of samples) expect(timesMs.filter((ms) => ms > 0)).toHaveLength(3);
    expect(lines).toEqual([expect.stringMatching(/^\d+ requests, some \$0\.\d+ by list prices, in stowagecomparison/)]);
    expect(await left(open())).toBe(0);
  },
);

test('a request that fails ends it, and what was made is removed all the same', async () => {
  const open = await EMULATED.datastore();
  const account = open();
  const driver = { ...account.driver, remove: () => Promise.reject(new Error('not today')) };
  await expect(measureRequests({ ...account, driver }, OPTIONS)).rejects.toThrow('not today');
  expect(await left(open())).toBe(0);
});

test('an account of the service itself is no emulator, and whatever is not surely that is one', async () => {
  expect((await EMULATED.datastore())().isEmulator).toBe(true);
  expect(datastoreAccount('a-project', undefined).isEmulator).toBe(false);
  expect(azureAccount(CONNECTION).isEmulator).toBe(false);
  expect(azureAccount(`${CONNECTION};EndpointSuffix=core.chinacloudapi.cn`).isEmulator).toBe(false);
  expect(azureAccount(`${CONNECTION};TableEndpoint=https://table.core.windows.net.example.com`).isEmulator).toBe(true);
  expect(() => azureAccount('UseDevelopmentStorage=true')).toThrow('AccountName and AccountKey');
});

/** 100 requests around the median, half of them 1 % below it and half above. */
function sample(kind: Sample['kind'], entities: number, bytes: number, medianMs: number): Sample {
  const timesMs = Array.from({ length: 100 }, (_, at) => medianMs * (at % 2 === 0 ? 0.99 : 1.01));
  return { name: `${kind} of ${entities}`, kind, billed: 'reads', entities, bytes, timesMs };
}

test('a row has what a request, an entity and a KiB take, and says where it comes from', () => {
  const samples = [
    sample('commit', 1, 100, 31),
    sample('commit', 1, 100 + 10 * 1_024, 41),
    sample('getMany', 2, 100, 10),
    sample('getMany', 102, 100, 60),
  ];
  const text = rowsOf('datastore', samples, 'npm run calibrate, 2026-11-23, europe-west1');
  const rows = Object.fromEntries(
    text.split('\n').map((line) => [/'(\S+)': measured\(([\d.]+)/.exec(line)?.[1], line]),
  );
  const value = (name: string): number => Number(/measured\(([\d.]+)/.exec(rows[name] ?? '')?.[1]);
  // The network's 0.5 ms each way and the share of each further entity are taken off.
  expect([value('commit.baseMs'), value('getMany.baseMs')]).toEqual([30, 8.5]);
  expect([value('commit.perKibMs'), value('getMany.perEntityMs')]).toEqual([1, 0.5]);
  expect(value('getMany.sigma')).toBeCloseTo(0.01, 3);
  expect(rows['commit.perEntityMs']).toBeUndefined();
  expect(rows['commit.baseMs']).toBe(
    "    'commit.baseMs': measured(30, 'npm run calibrate, 2026-11-23, europe-west1: commit of 1: 100 requests, p50 30.7, p95 31.3, p99 31.3 ms', [30, 30]),",
  );
});
