// The structure as machine-checked rules: who imports whom, the engine's means, the top folders.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { UserWorkspaceConfig } from 'vitest/config';
import config, { REST } from '../vitest.config.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Made by the tools, and ignored by git. */
const GENERATED = new Set(
  'node_modules .git .build dist report coverage .serverless .terraform .vscode .idea'.split(' '),
);

/**
 * The rooms of each folder, lowest line first. A room imports itself and lower lines, nothing
 * beside or above it. `*.ts` are the folder's own files.
 */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  'shared/store': [
    'contract',
    'format',
    'container system',
    'io',
    'machine',
    'engine',
    'table admin',
    'store.ts',
    'index.ts',
  ],
  'shared/drivers': ['common slow', 'memory datastore azure-tables', '*.ts'],
  'shared/drivers/datastore': ['messages grpc', '*.ts'],
  'shared/adapters': ['outcomes.ts', 'keyv.ts unstorage.ts level.ts'],
  shared: ['store', 'drivers adapters', 'lab'],
  'shared/lab': ['kit', 'cost work', 'sdk scale', 'load', 'plan', 'report', 'page'],
  'shared/lab/sdk': ['datastore.ts azure-tables.ts'],
  functions: ['http', 'instance', 'records compare vacuum', 'gcp azure'],
  infra: ['processes package', 'cli', 'emulators hosts', 'start lab', 'plugin run.mjs', 'check.mjs'],
  'infra/emulators': ['datastore azurite-front', '*.ts'],
  'infra/emulators/datastore': ['wire', 'entities', 'storage', 'queries writes', '*.ts'],
  'infra/lab': ['scale experiments', '*.ts'],
  'infra/lab/experiments': ['codecs.ts', 'documents.ts', 'serializers.ts', 'main.ts'],
  'infra/plugin': ['context', 'clouds', 'stack', 'commands', '*.ts'],
};

const STORE = 'shared/store/index.ts';
const CONTRACT = 'shared/store/contract/';
/** They wrap any driver and know no provider: one counts what passes, one checks it. */
const MEASURED = 'shared/drivers/measured.ts';
const CHECKED = 'shared/drivers/checked.ts';
const DATASTORE_SDK = ['@google-cloud/datastore', 'google-gax', 'google-auth-library', '@grpc/grpc-js'];
const AZURE_SDK = [
  '@azure/data-tables',
  '@azure/core-rest-pipeline',
  '@azure/core-auth',
  '@azure/core-util',
  '@azure/identity',
];

/** Packages and other rooms that a room may import, by the first line that holds a file. */
const OUTSIDE: readonly (readonly [room: string, ...may: string[]])[] = [
  ['shared/store/format', 'node:zlib'],
  // Time, chance and threads enter the store here alone.
  [
    'shared/store/system',
    'xxhash-wasm',
    'node:async_hooks',
    'node:crypto',
    'node:diagnostics_channel',
    'node:os',
    'node:perf_hooks',
    'node:timers/promises',
    'node:worker_threads',
  ],
  ['shared/store/io', 'lru-cache'],
  ['shared/store/table', 'msgpackr', 'node:util', 'node:zlib'],
  ['shared/store'],
  ['shared/drivers/datastore/messages'],
  ['shared/drivers/datastore/grpc', CONTRACT, 'node:'],
  ['shared/drivers/datastore', CONTRACT],
  ['shared/drivers', CONTRACT, 'node:'],
  // Each knows the public store and the interface that it implements.
  ['shared/adapters/keyv.ts', STORE, 'keyv', 'node:events'],
  ['shared/adapters/unstorage.ts', STORE, 'unstorage'],
  ['shared/adapters/level.ts', STORE, 'abstract-level'],
  ['shared/adapters', STORE],
  ['shared/lab/sdk/datastore.ts', ...DATASTORE_SDK],
  ['shared/lab/sdk/azure-tables.ts', ...AZURE_SDK],
  ['shared/lab/kit', 'zod', 'hdr-histogram-js'],
  ['shared/lab/cost', MEASURED, 'zod'],
  ['shared/lab/work', STORE],
  ['shared/lab/load', STORE, 'zod', 'p-limit', 'node:timers/promises'],
  ['shared/lab/report', 'zod', 'simple-statistics'],
  ['shared/lab/page', '@observablehq/plot'],
  ['shared/lab', 'zod'],
  [
    'functions/gcp',
    STORE,
    'shared/drivers/datastore.ts',
    MEASURED,
    CHECKED,
    'shared/lab/',
    'zod',
    'node:',
    ...DATASTORE_SDK,
  ],
  [
    'functions/azure',
    STORE,
    'shared/drivers/azure-tables.ts',
    MEASURED,
    CHECKED,
    'shared/lab/',
    'zod',
    'node:',
    '@azure/functions',
    ...AZURE_SDK,
  ],
  [
    'functions/http',
    STORE,
    'shared/store/table/msgpack-tokens.ts',
    'shared/store/table/check-value.ts',
    'hono',
    'zod',
    'msgpackr',
    'node:',
  ],
  // Both clouds share this room, so it knows no SDK.
  ['functions', STORE, MEASURED, 'shared/lab/', 'hono', 'zod', 'lru-cache', 'msgpackr', 'node:'],
  ['infra/emulators/datastore', '@grpc/grpc-js', '@google-cloud/datastore-api', 'protobufjs', 'node:'],
  ['infra/emulators/azurite-front', 'node:'],
  [
    'infra/cli/data',
    STORE,
    'functions/http/decimal.ts',
    'functions/gcp/emulator.ts',
    'shared/drivers/',
    'zod',
    'node:',
  ],
  [
    'infra/cli',
    STORE,
    'functions/http/byte-order-mark.ts',
    'functions/http/key-text.ts',
    'shared/lab/kit/',
    'shared/lab/load/coordinates.ts',
    'shared/lab/plan',
    'shared/lab/report',
    'shared/lab/page/embed.ts',
    'shared/lab/page/link.ts',
    'shared/lab/cost/',
    'zod',
    'node:',
  ],
  ['infra', STORE, 'functions/http/key-text.ts', 'shared/drivers/', 'shared/lab/', 'package:', 'node:'],
  ['tests', '*'],
  ['vitest.config.ts', 'vitest'],
];

/** Only these may import the room, whatever the lists above say. Each SDK stays with its cloud. */
const ONLY_FOR: readonly (readonly [room: string, ...users: string[]])[] = [
  ['shared/drivers/datastore/', 'shared/drivers/datastore', 'tests'],
  ['shared/drivers/azure-tables/connection-string.ts', 'shared/drivers', 'infra/cli/data', 'tests'],
  ['shared/drivers/azure-tables/', 'shared/drivers/azure-tables', 'tests'],
  ['shared/drivers/datastore.ts', 'functions/gcp', 'infra', 'tests'],
  ['shared/drivers/azure-tables.ts', 'functions/azure', 'infra', 'tests'],
  // Tables and containers know no prices.
  ['shared/lab/cost/', 'shared/lab', 'functions', 'infra', 'tests'],
  ['shared/lab/sdk/datastore.ts', 'functions/gcp', 'infra', 'tests'],
  ['shared/lab/sdk/azure-tables.ts', 'functions/azure', 'infra', 'tests'],
];

/** They know nothing of this project, so that other projects can use them alone. */
const ALONE = ['infra/emulators/datastore', 'infra/emulators/azurite-front'];

interface Source {
  /** From the root, with slashes. */
  readonly file: string;
  readonly text: string;
}

const sources = filesBelow('.').filter(({ file }) => /\.(ts|mts|mjs|js)$/.test(file));

describe('imports', () => {
  test('go down within a folder: the rooms stand in an order', () => {
    const wrong = sources.flatMap(({ file, text }) =>
      importsOf(file, text).flatMap((target) => {
        const upward = upwardImport(file, target);
        return upward === undefined ? [] : [`${file} imports ${target}: ${upward}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('from outside a folder are on the list of the room', () => {
    const wrong = sources.flatMap(({ file, text }) => {
      const room = OUTSIDE.find(([name]) => isIn(file, name));
      if (room === undefined) return [`${file} is in no room of the list OUTSIDE`];
      const [name, ...may] = room;
      return importsOf(file, text)
        .filter((target) => folderOf(file, target) === undefined && !may.some((one) => isIn(target, one)))
        .map((target) => `${file} imports ${target}, which ${name} may not`);
    });
    expect(wrong).toEqual([]);
  });

  test('leave to a cloud what is of that cloud', () => {
    const wrong = sources.flatMap(({ file, text }) =>
      importsOf(file, text).flatMap((target) => {
        const rule = ONLY_FOR.find(([room]) => isIn(target, room) && !isIn(file, room));
        if (rule === undefined || rule.slice(1).some((user) => isIn(file, user))) return [];
        return [`${file} imports ${target}, which is for ${rule.slice(1).join(', ')} only`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test.each(ALONE)('of %s are its own', (room) => {
    const wrong = sources
      .filter(({ file }) => isIn(file, room))
      .flatMap(({ file, text }) => importsOf(file, text).map((target) => ({ file, target })))
      .filter(({ target }) => /^(functions|infra|shared|tests)\//.test(target) && !isIn(target, room));
    expect(wrong).toEqual([]);
  });

  test('make no circles of files, types counted', () => {
    expect(circlesOf(new Map(sources.map(({ file, text }) => [file, importsOf(file, text)])))).toEqual([]);
  });

  test.each(Object.entries(ORDERS))('of %s: the order names every room and no other', (folder, lines) => {
    const rooms = lines.flatMap((line) => line.split(' '));
    const here = sources.filter(({ file }) => file.startsWith(`${folder}/`)).map(({ file }) => roomIn(folder, file));
    expect([...new Set(here)].toSorted()).toEqual(rooms.toSorted());
  });

  test.each(OUTSIDE)('from outside: %s is a room with files', (room) => {
    expect(sources.some(({ file }) => isIn(file, room))).toBe(true);
  });
});

const ENGINE = /^shared\/store\/(?!system\/)/;
const VIRTUAL = /^shared\/(lab\/scale\/|lab\/kit\/schedule|drivers\/slow\/)/;
const MEASURING = /^(shared\/lab|infra\/(lab|cli|start)|functions\/compare)\//;
const SDK_CALL = /\.(createEntity|updateEntity|upsertEntity|getEntity|listEntities|submitTransaction|createQuery)\(/;

/** Files of each kind, a pattern, and the only ones of them whose code may hold it. */
const HELD: readonly (readonly [what: string, among: RegExp, pattern: RegExp, ...only: string[]])[] = [
  [
    'waiting, in bytes, in one container and in its machine',
    /^shared\/store\/(format|container|machine)\//,
    /\b(await|async)\b/,
  ],
  [
    'time, chance or the environment, in the engine',
    ENGINE,
    /\b(Date\.now|new Date(?!\([^)])|performance\.now|setTimeout|setInterval|setImmediate|queueMicrotask|Math\.random|randomBytes|randomUUID|process\.|fetch\()/,
  ],
  ['a provider, in the engine', ENGINE, /datastore|azure|firestore/i],
  [
    'a clock, a timer or chance, in virtual time',
    VIRTUAL,
    /\b(Date\.now|new Date\(\)|performance\.now|setTimeout|setInterval|Math\.random|randomBytes|randomUUID|process\.(?!nextTick)|fetch\()/,
  ],
  [
    'a loop of callers who wait for their replies',
    MEASURING,
    /Promise\.all\(\s*Array\.from\(\{ length: (?!count\b)/,
    'shared/lab/load/closed-loop.ts',
  ],
  ['a loop of calls that are due', MEASURING, /from 'p-limit'/, 'shared/lab/load/open-loop.ts'],
  ['a printer of tables', MEASURING, /cells?\.map\([^;]*pad(Start|End)\(/, 'shared/lab/kit/text-table.ts'],
  ['a printer of tables for a page', MEASURING, /element\('t(able|head|body)'/, 'shared/lab/page/tables.ts'],
  ['a plain SDK', MEASURING, SDK_CALL, 'shared/lab/sdk/azure-tables.ts', 'shared/lab/sdk/datastore.ts'],
  ['Datastore’s SDK', MEASURING, /from '@google-cloud\/datastore'/, 'shared/lab/sdk/datastore.ts'],
  // CommonJS can require it.
  ['awaiting as the library loads', /^shared\/(store|drivers|adapters)\//, /^\S.*\bawait\b/m],
];

const held = HELD.map(([what, among, pattern, ...only]) => ({ what, among, pattern, only }));

test.each(held)('$what stands where it may', ({ among, pattern, only }) => {
  const some = sources.filter(({ file }) => among.test(file));
  expect(some).not.toEqual([]);
  expect(some.filter(({ text }) => pattern.test(withoutComments(text))).map(({ file }) => file)).toEqual(only);
});

describe('the top level', () => {
  test('holds four folders and what tools look for, nothing else', () => {
    const entries = readdirSync(ROOT).filter((name) => !GENERATED.has(name));
    const allowed = new Set(
      'functions infra shared tests serverless.yml package.json package-lock.json README.md LICENSE tsconfig.json vitest.config.ts'.split(
        ' ',
      ),
    );
    const wrong = entries.filter(
      (name) =>
        !allowed.has(name) &&
        !/^\.(ci|github|gitignore|gitattributes|editorconfig|npmrc|nvmrc|node-version|prettierrc\.json|prettierignore|oxlintrc\.json)$/.test(
          name,
        ),
    );
    expect(wrong).toEqual([]);
  });
});

describe('packages', () => {
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { deprecated?: string }>;
  };
  const own = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies' | 'peerDependencies',
    Record<string, string>
  > & {
    peerDependenciesMeta: Record<string, { optional: boolean }>;
  };

  test('are named with exact versions', () => {
    const versions = { ...own.dependencies, ...own.devDependencies };
    const inexact = Object.entries(versions).filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+$/.test(version));
    expect(inexact).toEqual([]);
  });

  test('are not deprecated, down to the last', () => {
    const deprecated = Object.entries(lock.packages).filter(([, { deprecated: why }]) => why !== undefined);
    expect(deprecated.map(([name, { deprecated: why }]) => `${name}: ${why}`)).toEqual([]);
  });

  test('that the store needs are its dependencies, and no others are', () => {
    const imported = new Set(
      sources
        .filter(({ file }) => file.startsWith('shared/store/'))
        .flatMap(({ file, text }) => importsOf(file, text))
        .filter((target) => !/^(node:|shared\/)/.test(target)),
    );
    expect(Object.keys(own.dependencies).toSorted()).toEqual([...imported].toSorted());
  });

  test('of the clouds are optional peers', () => {
    for (const name of Object.keys(own.peerDependencies))
      expect(own.peerDependenciesMeta[name]).toEqual({ optional: true });
  });
});

test('documents link to what exists', () => {
  const documents = filesBelow('.').filter(({ file }) => file.endsWith('.md'));
  const broken = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .filter(([, target]) => !existsSync(path.join(ROOT, path.dirname(file), target!)))
      .map(([, target]) => `${file} links to ${target}`),
  );
  expect(broken).toEqual([]);
});

describe('every test file', () => {
  const files = sources.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'));

  test('is in one project', () => {
    const projects = config.test!.projects!.map((project) => (project as UserWorkspaceConfig).test!);
    const projectsOf = (file: string) =>
      projects.filter(({ include, exclude }) => matches(file, include) && !matches(file, exclude as string[]));
    expect(files.filter((file) => projectsOf(file).length !== 1)).toEqual([]);
  });

  test.each(REST)('that npm test leaves out is there: %s', (pattern) => {
    expect(files.filter((file) => matches(file, [pattern]))).not.toEqual([]);
  });
});

describe('every file', () => {
  const all = filesBelow('.').filter(
    ({ file }) => file !== 'package-lock.json' && file !== 'tests/architecture.test.ts',
  );

  test('keeps to itself where it was written', () => {
    const wrong = all.filter(({ text }) =>
      /(?<![\w.])\/work\/|\.\.\/shared\/(design|protocol|facts|style|field|seeds)\b/.test(text),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  test('opens with a comment that says what it is', () => {
    const silent = sources.filter(
      ({ file, text }) => !/^(#!.*\n)?(\/\/|\/\*\*?) ?\S/.test(text) && !/(\.test|vitest\.config)\.ts$/.test(file),
    );
    expect(silent.map(({ file }) => file)).toEqual([]);
  });

  test('of code has at most 350 lines', () => {
    const long = sources.filter(({ file, text }) => !file.startsWith('tests/') && text.split('\n').length > 351);
    expect(long.map(({ file }) => file)).toEqual([]);
  });
});

/** Whether it is in a room: a folder, file, package, or prefix that ends in `/` or `:`. */
function isIn(target: string, room: string): boolean {
  if (room === '*') return true;
  if (room === 'package:') return !/^(node:|functions\/|infra\/|shared\/|tests\/)/.test(target);
  if (/[/:]$/.test(room)) return target.startsWith(room);
  return target === room || target.startsWith(`${room}/`) || target === `${room}.ts`;
}

function matches(file: string, patterns: readonly string[] = []): boolean {
  return patterns.some((pattern) => path.matchesGlob(file, pattern));
}

/** The innermost folder with an order that both are in. */
function folderOf(file: string, target: string): string | undefined {
  return Object.keys(ORDERS)
    .filter((folder) => file.startsWith(`${folder}/`) && target.startsWith(`${folder}/`))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** The room of the folder that the file is in, as ORDERS names it. */
function roomIn(folder: string, file: string): string {
  const [first = '', ...rest] = file.slice(folder.length + 1).split('/');
  const isLoose = rest.length === 0 && ORDERS[folder]?.some((line) => line.split(' ').includes('*.ts'));
  return isLoose ? '*.ts' : first;
}

/** Says how the import breaks ORDERS, if both are in rooms of one folder. */
function upwardImport(file: string, target: string): string | undefined {
  const folder = folderOf(file, target);
  if (folder === undefined) return undefined;
  const [from, to] = [roomIn(folder, file), roomIn(folder, target)];
  const line = (room: string): number => ORDERS[folder]!.findIndex((rooms) => rooms.split(' ').includes(room));
  if (from === to || (line(to) !== -1 && line(to) < line(from))) return undefined;
  return `in ${folder}, ${to} is not below ${from}`;
}

/** Each circle as its files by name. A circle inside a larger one is left out. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const reached = new Map([...imports.keys()].map((file) => [file, filesReachedFrom(file, imports)]));
  const circles = [...reached].map(([file, others]) => [...others].filter((other) => reached.get(other)?.has(file)));
  return [
    ...new Set(circles.filter((circle) => circle.length > 0).map((circle) => circle.toSorted().join(' '))),
  ].toSorted();
}

function filesReachedFrom(file: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const next = [...(imports.get(file) ?? [])];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    if (reached.has(at) || !imports.has(at)) continue;
    reached.add(at);
    next.push(...imports.get(at)!);
  }
  return reached;
}

function filesBelow(folder: string): Source[] {
  return readdirSync(path.join(ROOT, folder)).flatMap((name) => {
    const file = path.posix.join(folder, name);
    if (GENERATED.has(file) || name === '.terraform') return [];
    if (statSync(path.join(ROOT, file)).isDirectory()) return filesBelow(file);
    return [{ file, text: readFileSync(path.join(ROOT, file), 'utf8') }];
  });
}

/** Static, dynamic and re-exporting imports; relative ones as paths from the root. */
function importsOf(file: string, text: string): string[] {
  const pattern =
    /(?:^|[\s;}])(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[\s;])import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;
  return [...withoutComments(text).matchAll(pattern)].map((match) => {
    const target = (match[1] ?? match[2] ?? match[3])!;
    return target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : target;
  });
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/(^|[^:'"`])\/\/.*$/gm, '$1');
}
