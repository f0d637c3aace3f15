// The packages as somebody installs them: packed, then the library's tarball in an empty project,
// where plain JavaScript uses it and TypeScript checks against its declarations, and the emulators'
// beside it in another, whose tests run with node:test.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { ROOT } from '../../../infra/package/bundle.ts';
import { withReport } from '../../../shared/lab/page/link.ts';
import { fileFolder } from '../../support/folder.ts';

const SLOW_MS = 180_000;
/** package.json asks for this or newer. */
const OLDEST_NODE = '22.18.0';

/** The most by which a user's bundle grows, in KiB. */
const SIZES = [
  ['store/index.js', 264],
  ['drivers/datastore.js', 48],
  ['drivers/azure-tables.js', 40],
  ['adapters/level.js', 8],
  ['adapters/opentelemetry.js', 4],
  ['client/index.js', 4],
] as const;

const USE = `
import { openStore, StoreError } from '@stowage/store';
import { memoryDriver } from '@stowage/store/memory';

const store = openStore({ driver: memoryDriver() });
const users = await store.table('users', { order: 'key' });
await users.put('user:1', { name: 'Ada' });
const record = await users.get('user:1');
const refusal = await users.put('user:1', {}, { ifAbsent: true }).catch((error) => error);
console.log(JSON.stringify([record.value, refusal instanceof StoreError, refusal.code, process.versions.node]));
await store.close();
`;

const REQUIRED = `
const { openStore } = require('@stowage/store');
const { memoryDriver } = require('@stowage/store/memory');

async function main() {
  const store = openStore({ driver: memoryDriver() });
  const users = await store.table('users');
  await users.put('user:1', { name: 'Ada' });
  console.log(JSON.stringify([(await users.get('user:1')).value, process.versions.node]));
  await store.close();
}
main();
`;

const DRIVERS = `
import { azureTablesDriver } from '@stowage/store/azure-tables';
import { datastoreDriver } from '@stowage/store/datastore';

const credential = { name: 'a', key: 'a2V5' };
const azure = azureTablesDriver({ endpoint: 'https://a.table.core.windows.net', tableName: 'stowage', credential });
const datastore = datastoreDriver({ projectId: 'p', endpoint: 'http://127.0.0.1:8081' });
console.log(datastore.limits.provider, azure.limits.provider);
await Promise.all([datastore.close(), azure.close()]);
`;

const ADAPTED = `
import { StowageLevel } from '@stowage/store/level';
import { KeyvStowage } from '@stowage/store/keyv';
import { stowageDriver } from '@stowage/store/unstorage';
import { openStore } from '@stowage/store';
import { memoryDriver } from '@stowage/store/memory';
import { Keyv } from 'keyv';
import { createStorage } from 'unstorage';

const store = openStore({ driver: memoryDriver() });
const table = await store.table('cache', { order: 'key' });
const keyv = new Keyv({ store: new KeyvStowage(table), namespace: 'n' });
await keyv.set('a', 1);
const storage = createStorage({ driver: stowageDriver(table) });
await storage.setItem('b', 2);
const level = new StowageLevel(store, 'level');
await level.put('c', 'three');
console.log(JSON.stringify([await keyv.get('a'), await storage.getItem('b'), await level.get('c')]));
await store.close();
`;

const TYPED = `
import { type EncodedValue, openStore } from '@stowage/store';
import type { Table } from '@stowage/store';
import { azureTablesDriver } from '@stowage/store/azure-tables';
import { datastoreDriver } from '@stowage/store/datastore';
import { stowageClient } from '@stowage/store/client';
import { memoryDriver } from '@stowage/store/memory';

await using store = openStore({ driver: memoryDriver() });
const table: Table<{ name: string }> = await store.table<{ name: string }>('users');
const name: string | undefined = (await table.get('1'))?.value.name;
// @ts-expect-error: a number is no key
await table.get(1);

const bytes: Table<Uint8Array> = await store.table('bytes', { codec: 'bytes' });
// @ts-expect-error: text is no bytes
await bytes.put('1', 'text');
// @ts-expect-error: what a table of bytes holds is not the caller's to say
await store.table<string>('bytes', { codec: 'bytes' });
const encoded: Table<EncodedValue> = await store.table('encoded', { codec: 'encoded' });

interface User { readonly name: string; readonly age?: number; readonly tags: readonly string[]; readonly boss?: User | null }
const users: Table<User> = await store.table<User>('users', { codec: 'json' });
await users.put('1', { name: 'Ada', tags: ['a'], boss: { name: 'B', tags: [] } });
const dated = await store.table<{ when: Date; count: bigint }>('dated', { codec: 'json' });
// @ts-expect-error: JSON has no dates
await dated.put('1', { when: new Date() });
const anything: Table<unknown> = await store.table('json', { codec: 'json' });

const auth = { getClient: async () => ({ getRequestHeaders: async () => new Headers() }) };
export const drivers = [
  datastoreDriver({ projectId: 'p', auth }),
  azureTablesDriver({ endpoint: 'https://a.table.core.windows.net', tableName: 'stowage', credential: { name: 'a', key: 'a2V5' } }),
];
const client = stowageClient({ baseUrl: 'https://example.org' });
const sum: number | undefined = (
  await client.POST('/v1/tables/{table}/records/{key}', {
    params: { path: { table: 't', key: 'k' }, query: { increment: 1 } },
  })
).data?.value;
// @ts-expect-error: no such route
await client.GET('/v1/table');
export { anything, encoded, name, sum };
`;

const TSC = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const tools = inject('tools');
const dir = await fileFolder();
const oldest = await oldestNode();
let packed: string;
let tarball: string;
let emulators: string;

beforeAll(async () => {
  await mkdir(path.join(dir, 'project'));
  await run(
    'npm',
    ['pack', '--workspace', 'shared', '--workspace', 'infra/emulators', '--pack-destination', dir],
    ROOT,
  );
  const tarballs = (await readdir(dir)).filter((name) => name.endsWith('.tgz')).map((name) => path.join(dir, name));
  tarball = tarballs.find((name) => name.includes('stowage-store'))!;
  emulators = tarballs.find((name) => name.includes('stowage-emulators'))!;
  await writeFile(path.join(dir, 'project/package.json'), '{"name":"somebody","private":true,"type":"module"}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], projectDir());
  packed = path.join(projectDir(), 'node_modules/@stowage/store');
  await mkdir(path.join(projectDir(), 'node_modules/@types'), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules/@types/node'), path.join(projectDir(), 'node_modules/@types/node'));
}, SLOW_MS);

describe('the packed library', () => {
  describe.each([
    ['this Node.js', process.execPath, process.versions.node],
    ['the oldest Node.js that it is for', oldest, OLDEST_NODE],
  ])('on %s', (_, node, version) => {
    test.skipIf(node === undefined).each([
      ['stored and returned in an empty project', 'use.js', USE, [{ name: 'Ada' }, true, 'conflict']],
      ['stored by CommonJS, which requires it', 'use.cjs', REQUIRED, [{ name: 'Ada' }]],
    ])('a record is %s', async (_what, file, source, told) => {
      await writeFile(path.join(projectDir(), file), source);
      expect(JSON.parse(await run(node!, [file], projectDir()))).toEqual([...told, version]);
    });
  });

  test(
    'brings its types, which follow the codec, to a project that checks its libraries too',
    { timeout: SLOW_MS },
    async () => {
      await writeFile(path.join(projectDir(), 'use.ts'), TYPED);
      const options = '--strict --noEmit --skipLibCheck false --module nodenext --target es2024 --types node use.ts';
      expect(await run(process.execPath, [TSC, ...options.split(' ')], projectDir())).toBe('');
    },
  );

  test.each([
    ['nodenext', 'cts', ''],
    ['node16', 'mts', ''],
    ['node16', 'cts', 'TS1479'],
    ['esnext --moduleResolution bundler', 'ts', ''],
  ])(
    'has types with module %s in a file .%s, or is refused there as its README says: %s',
    async (module, ext, told) => {
      const file = `resolved.${ext}`;
      const source =
        "import { openStore } from '@stowage/store';\nimport { memoryDriver } from '@stowage/store/memory';\n";
      await writeFile(
        path.join(projectDir(), file),
        `${source}export const store = openStore({ driver: memoryDriver() });`,
      );
      const options = `--strict --noEmit --skipLibCheck --target es2024 --types node --module ${module} ${file}`;
      const checked = run(process.execPath, [TSC, ...options.split(' ')], projectDir());
      expect(await checked.catch(String)).toMatch(told === '' ? /^$/ : told);
    },
  );

  test('has a README of its own: its example runs, and its links lead to what is shipped', async () => {
    const readme = await readFile(path.join(packed, 'README.md'), 'utf8');
    const [, example] = /```ts\n([^]*?)```/.exec(readme)!;
    await writeFile(path.join(projectDir(), 'example.ts'), example!);
    expect(await run(process.execPath, ['example.ts'], projectDir())).toContain("user:2 { name: 'Grace', visits: 0 }");
    const links = [...readme.matchAll(/\]\(([^)]*)\)/g)].map(([, link]) => link!);
    expect(links.filter((link) => !/^(#|https:|RECIPES\.md$)/.test(link))).toEqual([]);
  });

  test('leaves nothing that git sees', async () => {
    expect(await readFile(path.join(ROOT, '.gitignore'), 'utf8')).toMatch(
      /^dist\/\n\/infra\/emulators\/LICENSE\n\/shared\/LICENSE\n\*\.tgz$/m,
    );
    expect(await readdir(packed)).toEqual(['LICENSE', 'README.md', 'RECIPES.md', 'dist', 'package.json']);
  });

  test('opens each cloud’s driver without any other package: credentials are what its user brings', async () => {
    const installed = await readdir(path.join(projectDir(), 'node_modules'));
    expect(installed.filter((name) => /^@(google-cloud|azure)$/.test(name))).toEqual([]);
    await writeFile(path.join(projectDir(), 'drivers.js'), DRIVERS);
    expect(await run(process.execPath, ['drivers.js'], projectDir())).toBe('datastore azure-tables\n');
  });

  test('stands behind Keyv, unstorage and abstract-level, which its user brings', async () => {
    for (const name of ['keyv', 'unstorage', 'abstract-level'])
      await symlink(path.join(ROOT, 'node_modules', name), path.join(projectDir(), 'node_modules', name));
    await writeFile(path.join(projectDir(), 'adapted.js'), ADAPTED);
    expect(JSON.parse(await run(process.execPath, ['adapted.js'], projectDir()))).toEqual([1, 2, 'three']);
  });

  test('would be published as it is', { timeout: SLOW_MS }, async () => {
    // Only a workflow can sign where a package comes from.
    const args = ['publish', tarball, '--dry-run', '--json', '--provenance=false'];
    expect(await run('npm', args, projectDir())).toContain('"id": "@stowage/store@');
  });

  test('stays small: minified, and as a file', async () => {
    const { size } = await stat(tarball);
    // The comparison's page is a seventh of it.
    expect(size).toBeLessThan(1.25 * 1024 * 1024);
    for (const [entry, kib] of SIZES) {
      const { outputFiles } = await build({
        entryPoints: [path.join(packed, 'dist', entry)],
        bundle: true,
        minify: true,
        format: 'esm',
        platform: 'node',
        external: [
          '@google-cloud/*',
          '@azure/*',
          'google-auth-library',
          'abstract-level',
          '@opentelemetry/api',
          'openapi-fetch',
        ],
        write: false,
      });
      expect({ entry, isSmall: outputFiles[0]!.contents.length < kib * 1024 }).toEqual({ entry, isSmall: true });
    }
  });

  test('has a command line of one file, and the page of its reports beside it', async () => {
    const help = await run(path.join(projectDir(), 'node_modules/.bin/stowage'), ['--help'], projectDir(), {
      PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
    });
    expect(help).toContain('stowage compare --endpoints FILE');
    await expect(run(process.execPath, [path.join(packed, 'dist/cli.js'), 'compare'], projectDir())).rejects.toThrow(
      '--endpoints FILE',
    );
    expect(await readFile(path.join(packed, 'dist/cli.js'), 'utf8')).toContain('new URL("page.html",import.meta.url)');
    expect(withReport(await readFile(path.join(packed, 'dist/page.html'), 'utf8'), { a: 1 })).toContain(
      '>{"a":1}</script>',
    );
  });
});

describe('the packed emulators', () => {
  const project = path.join(dir, 'tested');
  const installed = path.join(project, 'node_modules/@stowage/emulators');

  beforeAll(async () => {
    await mkdir(project);
    await writeFile(path.join(project, 'package.json'), '{"name":"somebody","private":true,"type":"module"}');
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball, emulators], project);
  }, SLOW_MS);

  /** What node:test prints. */
  function tested(file: string): Promise<string> {
    // A file that believes itself started by node:test would tell that in place of its output.
    return run(process.execPath, ['--test', '--test-reporter=tap', file], project, { NODE_TEST_CONTEXT: undefined });
  }

  test('run the tests of their README beside the library, without azurite', { timeout: SLOW_MS }, async () => {
    const [, example] = /```js\n([^]*?)```/.exec(await readFile(path.join(installed, 'README.md'), 'utf8'))!;
    await writeFile(path.join(project, 'readme.test.js'), example!);
    expect(await tested('readme.test.js')).toMatch(/^# pass 2$/m);
  });

  test('bring faults to tests in CommonJS on Azure, once azurite is there', { timeout: SLOW_MS }, async () => {
    await mkdir(path.join(project, 'node_modules/@azure'));
    for (const name of ['azurite', '@azure/data-tables'])
      await symlink(path.join(ROOT, 'node_modules', name), path.join(project, 'node_modules', name));
    await copyFile(new URL('azure-faults.cjs', import.meta.url), path.join(project, 'azure.test.cjs'));
    expect(await tested('azure.test.cjs')).toMatch(/^# pass 5$/m);
  });

  test('are one file of code and one of types', async () => {
    expect(await readdir(installed)).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    expect(await readdir(path.join(installed, 'dist'))).toEqual(['index.cjs', 'index.d.cts']);
    expect(await readFile(path.join(installed, 'dist/index.d.cts'), 'utf8')).not.toMatch(/\b(import|require)\b/);
  });

  test.each(['mts', 'cts'])('have types for a file .%s', { timeout: SLOW_MS }, async (ext) => {
    const source = `import { startEmulators } from '@stowage/emulators';\nvoid startEmulators().then(({ close }) => close());`;
    await writeFile(path.join(project, `typed.${ext}`), source);
    const options = `--strict --noEmit --skipLibCheck false --target es2024 --module nodenext --types node typed.${ext}`;
    const typeRoots = ['--typeRoots', path.join(ROOT, 'node_modules/@types')];
    expect(await run(process.execPath, [TSC, ...options.split(' '), ...typeRoots], project)).toBe('');
  });
});

test.skipIf(tools === undefined)('publint finds nothing wrong with either package', { timeout: SLOW_MS }, async () => {
  const publint = path.join(tools!, '.bin/publint');
  for (const file of [tarball, emulators]) expect(await run(publint, ['--strict', file], ROOT)).toContain('All good!');
});

/**
 * The least version in package.json, from npm, as a bare executable. Without network, or on another
 * system, the test is skipped with a line.
 */
async function oldestNode(): Promise<string | undefined> {
  const folder = path.join(dir, 'node');
  const name = `node-${process.platform}-${process.arch}`;
  try {
    await mkdir(folder);
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `${name}@${OLDEST_NODE}`], folder);
    return path.join(folder, 'node_modules', name, 'bin/node');
  } catch (error) {
    console.warn(`SKIPPED: the packed library on Node.js ${OLDEST_NODE}, which npm did not bring: ${String(error)}`);
    return undefined;
  }
}

function projectDir(): string {
  return path.join(dir, 'project');
}

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { cwd, timeout: SLOW_MS, env: { ...process.env, ...env } };
  try {
    return (await promisify(execFile)(command, [...args], options)).stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as { stdout?: string; stderr?: string; message: string };
    throw new Error(`${message}\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}
