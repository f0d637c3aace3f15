// The contents of a package.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../../../infra/package/bundle.ts';
import { folderOf, packageAndUnpack, packageFunctions } from '../../../infra/package/package.ts';
import { fileFolder } from '../../support/folder.ts';

const outDir = await fileFolder();
const packages = await packageAndUnpack(outDir);
// Seconds of processor time, before the tests: a test's own time is for what it asks.
const again = await inZone('Pacific/Auckland', () => packageFunctions(path.join(outDir, 'again')));

const CODE = ['lib/main.js', 'lib/sdk-client.js', 'lib/trace-exporter.js'];
const GOOGLE = [...CODE, 'package-lock.json', 'package.json', 'protos/app_engine_key.proto'];

const PAGE = ['compare/build.json', 'compare/page.html'];

async function sourcesIn(sourceMapFile: string): Promise<string[]> {
  return (JSON.parse(gunzipSync(await readFile(sourceMapFile)).toString()) as { sources: string[] }).sources;
}

describe('a package', () => {
  test.each([
    ['gcp', 'records', GOOGLE],
    ['gcp', 'vacuum', GOOGLE],
    ['gcp', 'compare', [...PAGE, ...CODE, 'package-lock.json', 'package.json', 'protos/app_engine_key.proto']],
    ['azure', 'records', ['host.json', ...CODE, 'package.json']],
    ['azure', 'vacuum', ['host.json', ...CODE, 'package.json']],
    ['azure', 'compare', [...PAGE, 'host.json', ...CODE, 'package.json']],
  ] as const)('for %s of %s is complete by itself', async (cloud, name, files) => {
    const dir = folderOf(packages, cloud, name);
    const entries = await readdir(dir, { recursive: true, withFileTypes: true });
    const found = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)));
    expect(found.sort()).toEqual(files);
  });

  test('has a live page below 560 kB', async () => {
    const page = path.join(folderOf(packages, 'azure', 'compare'), 'compare/page.html');
    expect((await readFile(page)).length).toBeLessThan(560_000);
  });

  test.each(packages)(
    'of $name for $cloud has its trace exporter apart: only a collector loads it',
    async ({ dir }) => {
      const [main, spans] = await Promise.all(
        ['main', 'trace-exporter'].map((name) => readFile(path.join(dir, `lib/${name}.js`), 'utf8')),
      );
      expect(main).toContain('import("./trace-exporter.js")');
      expect(main).not.toContain('OTLPTraceExporter');
      expect(spans).toContain('OTLPTraceExporter');
    },
  );

  test.each([
    ['gcp', 'compare', ['google.datastore.v1'], /@azure\/data-tables/],
    // Google's large client, and the SDK of Azure, are left to the comparison.
    [
      'gcp',
      'records',
      ['google.datastore.v1', 'google-auth-library'],
      /@azure\/|google-gax|grpc-js|protobufjs|compare\/cells/,
    ],
    ['gcp', 'vacuum', ['google.datastore.v1', 'google-auth-library'], /@azure\/|google-gax|grpc-js|protobufjs/],
    ['azure', 'compare', ['SharedKeyLite'], /google\.datastore\.v1/],
    ['azure', 'records', ['SharedKeyLite'], /google\.datastore\.v1|@azure\/(data-tables|core-)|compare\/cells/],
    ['azure', 'vacuum', ['SharedKeyLite'], /google\.datastore\.v1|@azure\/(data-tables|core-)/],
  ] as const)(
    'for %s of %s holds its own cloud’s client, and no more than it needs',
    async (cloud, name, held, absent) => {
      const code = await readFile(path.join(folderOf(packages, cloud, name), 'lib/main.js'), 'utf8');
      for (const part of held) expect(code).toContain(part);
      expect(code).not.toMatch(absent);
    },
  );

  test('for Google locks every dependency that the platform installs, in the version that is installed here', async () => {
    const dir = folderOf(packages, 'gcp', 'records');
    const lock = JSON.parse(await readFile(path.join(dir, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string; integrity?: string; dev?: boolean }>;
    };
    const { '': own, ...installed } = lock.packages;
    expect(own).toMatchObject({ dependencies: { '@google-cloud/functions-framework': expect.stringMatching(/^\d/) } });
    expect(Object.keys(installed).length).toBeGreaterThan(50);
    for (const [place, { version, integrity, dev }] of Object.entries(installed)) {
      const { version: here } = JSON.parse(await readFile(path.join(ROOT, place, 'package.json'), 'utf8')) as {
        version: string;
      };
      expect({ place, version, dev }).toEqual({ place, version: here, dev: undefined });
      expect(integrity).toMatch(/^sha512-/);
    }
  });

  test('for Google is one that npm ci takes', async () => {
    const dir = folderOf(packages, 'gcp', 'records');
    const args = ['ci', '--dry-run', '--offline', '--omit=dev', '--ignore-scripts'];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: dir, timeout: 60_000 });
    expect(stdout).toMatch(/added \d+ packages/);
  });

  test('has the same bytes whenever and wherever it is made', () => {
    expect(again.map(({ sha256 }) => sha256)).toEqual(packages.map(({ sha256 }) => sha256));
  });

  test('has its source map beside it, which names the sources and no folder of this machine', async () => {
    for (const { sourceMapFile } of packages) {
      const sources = await sourcesIn(sourceMapFile);
      expect(sources.some((source) => source.endsWith('shared/store/store.ts'))).toBe(true);
      expect(sources.filter((source) => path.isAbsolute(source))).toEqual([]);
    }
  });
});

async function inZone<Made>(zone: string, make: () => Promise<Made>): Promise<Made> {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    return await make();
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
}
