// The structure as one table of rooms, and what a machine can check of the sources beside it.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { UserWorkspaceConfig } from 'vitest/config';
import config, { REST } from '../vitest.config.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Counts what a driver is asked, and checks it: each wraps any driver, and knows no provider. */
const WRAPPERS = 'shared/drivers/measured.ts shared/drivers/checked.ts';
const STORE = 'shared/store/index.ts';
const CONTRACT = 'shared/store/contract/';
const GOOGLE = '@google-cloud/datastore google-auth-library';
const AZURE = '@azure/data-tables @azure/core-auth';

/**
 * The rooms of each folder: a line is a floor, the lowest first. A room imports itself, the lower
 * floors of its folder, and the files, packages and prefixes that stand behind its colon. Without
 * a colon it imports also what the room around it may. `*.ts` are the folder's own files. `tests`
 * may import everything. That files make no circles is the linter's to say.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'shared/store': [
    'contract',
    'format: node:zlib',
    'container',
    // Time, chance and threads enter the store here alone.
    'system: xxhash-wasm node:',
    'io: lru-cache',
    'machine',
    'engine',
    'table: msgpackr node:util node:zlib | admin: node:zlib',
    'store.ts',
    'index.ts',
  ],
  'shared/drivers': ['common | slow', 'memory | datastore | azure-tables | conformance', '*.ts'],
  'shared/drivers/datastore': [`messages: | grpc: shared/drivers/common/ ${CONTRACT} node:`, '*.ts'],
  'shared/adapters': [
    'adapter-outcomes.ts',
    // Each knows the public store and the interface that it implements.
    `keyv.ts: ${STORE} keyv node:events | unstorage.ts: ${STORE} unstorage | level.ts: ${STORE} abstract-level | opentelemetry.ts: ${STORE} @opentelemetry/api node:diagnostics_channel`,
  ],
  'shared/lab': [
    `kit: ${CONTRACT} zod hdr-histogram-js`,
    `cost: shared/drivers/measured.ts zod | work: ${STORE}`,
    `sdk | scale: ${CONTRACT} ${STORE} shared/store/system/hash.ts shared/drivers/measured.ts shared/drivers/memory.ts shared/drivers/memory/ shared/drivers/slow/ | growth: ${STORE} shared/store/system/hash.ts shared/drivers/measured.ts shared/drivers/memory.ts shared/drivers/datastore/entity-mapping.ts`,
    `load: ${STORE} zod p-limit`,
    'plan: zod',
    'report: zod simple-statistics',
    'page: @observablehq/plot',
  ],
  // Each SDK stays with its cloud.
  'shared/lab/sdk': [
    `datastore-baseline.ts: shared/lab/kit/ shared/lab/work/ ${GOOGLE} | azure-tables-baseline.ts: shared/lab/kit/ shared/lab/work/ ${AZURE}`,
  ],
  shared: [`store: | drivers: node: ${CONTRACT} | adapters: ${STORE} | lab: ${STORE} | client: openapi-fetch`],
  functions: [
    `http: ${STORE} shared/store/table/msgpack-tokens.ts shared/store/table/encode-value.ts zod msgpackr node:`,
    `instance: ${STORE} zod node:perf_hooks node:timers/promises`,
    `records: ${STORE} zod lru-cache node: | vacuum: ${STORE} zod | compare: ${STORE} shared/drivers/conformance/ shared/drivers/measured.ts shared/lab/kit/ shared/lab/cost/ shared/lab/load/ zod node:`,
    `gcp: ${STORE} ${WRAPPERS} shared/drivers/datastore.ts shared/lab/load/ shared/lab/work/ shared/lab/sdk/datastore-baseline.ts zod node: ${GOOGLE} | azure: ${STORE} ${WRAPPERS} shared/drivers/azure-tables.ts shared/lab/load/ shared/lab/work/ shared/lab/sdk/azure-tables-baseline.ts zod node: ${AZURE} @azure/functions`,
  ],
  'functions/instance': [
    'trace-exporter.ts: @opentelemetry/ functions/http/log.ts functions/instance/config.ts shared/adapters/opentelemetry.ts node:timers/promises',
    '*.ts',
  ],
  infra: [
    'processes: node: | package: shared/lab/kit/ esbuild fflate node: | plain: zod node:',
    `cli: ${STORE} functions/http/json-text.ts functions/http/key-text.ts shared/lab/ zod node:`,
    `emulators: ${STORE} shared/drivers/slow/ shared/lab/kit/ node: | hosts: node:`,
    `start: shared/lab/ node: | lab: ${STORE} shared/drivers/ shared/lab/ node:`,
    'plugin: functions/http/key-text.ts shared/lab/plan/ zod node: | run.mjs',
    'check.mjs: node:',
  ],
  'infra/cli': [
    `data: infra/cli/ infra/plain/ ${STORE} ${GOOGLE} ${AZURE} @grpc/grpc-js functions/http/json-text.ts functions/gcp/platform.ts shared/drivers/azure-tables/connection-string.ts shared/drivers/azure-tables.ts shared/drivers/datastore.ts papaparse zod node:`,
    `doctor: infra/cli/ ${STORE} ${CONTRACT} ${WRAPPERS} ${GOOGLE} ${AZURE} functions/gcp/platform.ts shared/drivers/ shared/lab/kit/ node:`,
    '*.ts',
  ],
  // The emulators know nothing of this project, so that other projects can use them alone.
  'infra/emulators': [
    'datastore: @grpc/grpc-js @google-cloud/datastore-api protobufjs/ node: | azurite-front: node:',
    '*.ts',
  ],
  'infra/emulators/datastore': ['wire', 'entities', 'storage', '*.ts'],
  // Each cloud's own client, for entities that are not this store's.
  'infra/plain': [
    'plain-place.ts',
    'datastore-entities.ts: infra/plain/ @google-cloud/datastore-api node: | azure-rows.ts: infra/plain/ @azure/data-tables',
  ],
  'infra/lab': ['scale', '*.ts'],
  'infra/plugin': ['context', 'clouds', 'stack', 'commands', '*.ts'],
};

interface Room {
  readonly folder: string;
  readonly name: string;
  readonly floor: number;
  /** Undefined: what the room around it may import. */
  readonly may: readonly string[] | undefined;
}

const rooms: readonly Room[] = Object.entries(ROOMS).flatMap(([folder, floors]) =>
  floors.flatMap((line, floor) =>
    line.split(' | ').map((text) => {
      const [, name = '', may] = /^([^\s:]+)(?::(.*))?$/.exec(text)!;
      return { folder, name, floor, may: may?.split(' ').filter((one) => one !== '') };
    }),
  ),
);

const sources = globSync('{functions,infra,shared,tests}/**/*.{ts,mts,mjs,js}', { cwd: ROOT })
  .filter((file) => !/(^|\/)(node_modules|dist|\.[^/]+)\//.test(file))
  .map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
const product = sources.filter(({ file }) => !file.startsWith('tests/'));

test('each import is one that its room may make', () => {
  const wrong = product.flatMap(({ file, text }) =>
    importsOf(file, text).flatMap((target) => (isAllowed(file, target) ? [] : [`${file} imports ${target}`])),
  );
  expect(wrong).toEqual([]);
});

test('each file is in a room, and each room has a file', () => {
  expect(product.filter(({ file }) => roomsOf(file).length === 0).map(({ file }) => file)).toEqual([]);
  const used = new Set(product.flatMap(({ file }) => roomsOf(file)));
  expect(rooms.filter((room) => !used.has(room)).map(({ folder, name }) => `${folder}: ${name}`)).toEqual([]);
});

const ENGINE = /^shared\/store\/(?!system\/)/;
const SDK_CALL = /\.(createEntity|updateEntity|upsertEntity|getEntity|listEntities|submitTransaction|createQuery)\(/;

/** What code of some files does not hold; a comment may. */
const ABSENT: readonly (readonly [what: string, files: RegExp, pattern: RegExp])[] = [
  ['waiting, in the pure rooms', /^shared\/store\/(format|container|machine)\//, /\b(await|async)\b/],
  [
    'time, chance or the environment, in the engine',
    ENGINE,
    /\b(Date\.now|new Date(?!\([^)])|performance\.now|setTimeout|setInterval|setImmediate|queueMicrotask|Math\.random|randomBytes|randomUUID|process\.|fetch\()/,
  ],
  ['a provider, in the engine', ENGINE, /datastore|azure|firestore/i],
  [
    'a clock, a timer or chance, in virtual time',
    /^shared\/(lab\/scale\/|lab\/kit\/virtual-time|drivers\/slow\/)/,
    /\b(Date\.now|new Date\(\)|performance\.now|setTimeout|setInterval|Math\.random|randomBytes|randomUUID|process\.(?!nextTick)|fetch\()/,
  ],
  [
    'a plain SDK, where the layouts are compared',
    /^(shared\/lab\/(?!sdk\/)|infra\/(lab|cli|start)\/|functions\/compare\/)/,
    SDK_CALL,
  ],
  [
    'awaiting as the library loads, which CommonJS requires',
    /^shared\/(store|drivers|adapters)\//,
    /^(?=\S).*\bawait\b/m,
  ],
];

test.each(ABSENT.map(([what, files, pattern]) => ({ what, files, pattern })))('$what: none', ({ files, pattern }) => {
  const among = product.filter(({ file }) => files.test(file));
  expect(among).not.toEqual([]);
  expect(among.filter(({ text }) => pattern.test(withoutComments(text))).map(({ file }) => file)).toEqual([]);
});

test('documents link to what exists', () => {
  const documents = globSync(['*.md', '{.github,functions,infra,shared,tests}/**/*.md'], { cwd: ROOT }).filter(
    (file) => !/(^|\/)(node_modules|dist)\//.test(file),
  );
  expect(documents.length).toBeGreaterThan(10);
  const broken = documents.flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
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

function matches(file: string, patterns: readonly string[] = []): boolean {
  return patterns.some((pattern) => path.matchesGlob(file, pattern));
}

/** The rooms that a file is in, the innermost first. */
function roomsOf(file: string): Room[] {
  const isIn = ({ folder, name }: Room): boolean => {
    if (!file.startsWith(`${folder}/`)) return false;
    const rest = file.slice(folder.length + 1);
    return name === '*.ts' ? isLoose(folder, rest) : rest === name || rest.startsWith(`${name}/`);
  };
  return rooms.filter(isIn).toSorted((a, b) => b.folder.length - a.folder.length);
}

function isLoose(folder: string, rest: string): boolean {
  return !rest.includes('/') && !rooms.some((room) => room.folder === folder && room.name === rest);
}

function isAllowed(file: string, target: string): boolean {
  const there = roomsOf(target);
  for (const room of roomsOf(file)) {
    const other = there.find(({ folder }) => folder === room.folder);
    if (other !== undefined && (other === room || other.floor < room.floor)) return true;
    // Of two rooms of one folder no room around them knows better.
    if (other !== undefined || room.may !== undefined) return isListed(room.may, target);
  }
  return false;
}

function isListed(may: Room['may'] = [], target: string): boolean {
  return may.some((one) => target === one || target.startsWith(/[/:]$/.test(one) ? one : `${one}/`));
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
