// Parts of a comparison as their images hold them: each a process, which the environment alone tells what to do. Their files make one report.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../../infra/emulators/azurite.ts';
import { startEmbeddedDatastore } from '../../../infra/emulators/embedded.ts';
import type { Emulator } from '../../../infra/emulators/emulator.ts';
import type { Cloud } from '../../../infra/package/bundle.ts';
import { folderOf, JOBS, packageAndUnpack } from '../../../infra/package/package.ts';
import { mergePlanParts } from '../../../shared/compare/plan/merge-plan-parts.ts';
import { planPartOf } from '../../../shared/compare/plan/part-file.ts';

const COUNT = 2;

/** Time for processes to start, and for the first one to load. */
const AHEAD_MS = 15_000;

const PLAN = {
  workloads: ['ycsb-a'],
  layouts: ['container'],
  callers: [2],
  records: 100,
  repetitions: 2,
  durationMs: 200,
  warmup: { leastMs: 100, mostMs: 200 },
};

const outDir = await mkdtemp(path.join(tmpdir(), 'stowage-parts-test-'));
afterAll(() => rm(outDir, { recursive: true }));
const packages = await packageAndUnpack(outDir, JOBS);

const emulators: Emulator[] = [];
afterAll(async () => {
  for (const one of emulators) await one.close();
});

interface Started {
  readonly env: Readonly<Record<string, string>>;
  /** How a part hears which it is. */
  readonly told: (index: number) => Readonly<Record<string, string>>;
}

const START: Readonly<Record<Cloud, () => Promise<Started>>> = {
  gcp: async () => {
    const emulator = await startEmbeddedDatastore({ inProcess: true });
    emulators.push(emulator);
    return {
      env: {
        GOOGLE_CLOUD_PROJECT: 'parts-test',
        DATASTORE_EMULATOR_HOST: new URL(emulator.endpoint).host,
        METADATA_SERVER_DETECTION: 'none',
      },
      told: (index) => ({ CLOUD_RUN_TASK_INDEX: String(index), CLOUD_RUN_TASK_COUNT: String(COUNT) }),
    };
  },
  azure: async () => {
    const emulator = await startAzurite({ inProcess: true });
    emulators.push(emulator);
    return {
      env: {
        STOWAGE_TABLES_ENDPOINT: emulator.endpoint,
        STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
        STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
      },
      told: (index) => ({ STOWAGE_PART: `${index + 1}/${COUNT}` }),
    };
  },
};

describe.each(['gcp', 'azure'] as const)('parts on %s', { timeout: 120_000 }, (cloud) => {
  let started: Started;
  beforeAll(async () => {
    started = await START[cloud]();
  });

  test('have an image with their code and what it reads, and nothing else', async () => {
    const found = await readdir(folderOf(packages, cloud, 'part'), { recursive: true });
    const own = cloud === 'gcp' ? ['protos', 'protos/app_engine_key.proto'] : [];
    expect(new Set(found)).toEqual(
      new Set(['Dockerfile', 'compare', 'compare/build.json', 'lib', 'lib/main.js', 'package.json', ...own]),
    );
  });

  test('open their windows together, and leave files that merge into one run', async () => {
    const folder = await mkdtemp(path.join(outDir, 'files-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const env = {
      PATH: process.env['PATH'],
      STOWAGE_PARTS: folder,
      STOWAGE_PLAN: JSON.stringify(PLAN),
      STOWAGE_START: new Date(Date.now() + AHEAD_MS).toISOString(),
      ...started.env,
    };
    const run = (index: number) =>
      promisify(execFile)(process.execPath, ['lib/main.js'], {
        cwd: folderOf(packages, cloud, 'part'),
        env: { ...env, ...started.told(index) },
      });
    await Promise.all(Array.from({ length: COUNT }, (_, index) => run(index)));
    const names = await readdir(folder);
    expect(names).toHaveLength(COUNT);
    const files = await Promise.all(
      names.map(async (name) => ({ name, part: planPartOf(await readFile(path.join(folder, name), 'utf8')) })),
    );
    const { outcome, lost } = mergePlanParts(files);
    expect({ lost, ...outcome, runs: [] }).toEqual({
      lost: [],
      runs: [],
      failures: [],
      searches: [],
      leftOut: [],
      leftovers: [],
      endedEarly: null,
    });
    expect(outcome.runs).toHaveLength(2);
    for (const { parts } of outcome.runs) {
      expect(parts).toHaveLength(COUNT);
      expect(new Set(parts.map(({ place }) => place.instanceId)).size).toBe(COUNT);
      for (const { records, errors, store } of parts) {
        expect(errors).toEqual({});
        expect(records).toBeGreaterThan(0);
        expect(store!.commits).toBeGreaterThan(0);
      }
    }
  });
});
