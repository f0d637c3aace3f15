// Packages of others: licences of all that ships, install scripts, which run nowhere that the
// clouds' credentials can be had, and the places that the update bot looks at.
import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { lockFileOf } from '../../infra/package/lock-file.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** They ask for a notice at most. Lists have Creative Commons' licences, code has none of them. */
const LICENCES = new Set([
  '(MIT AND Zlib)',
  '(MIT OR CC0-1.0)',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-3.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

type Versions = Readonly<Record<string, string>>;

interface Package {
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

const own = JSON.parse(read('package.json')) as Package;
const [library, emulators] = ['shared', 'infra/emulators'].map((folder) => {
  return JSON.parse(read(`${folder}/package.json`)) as Package;
}) as [Package, Package];
const lock = JSON.parse(read('package-lock.json')) as {
  packages: Readonly<
    Record<string, { readonly name?: string; readonly hasInstallScript?: boolean; readonly deprecated?: string }>
  >;
};

/** Functions carry what they and the store import, whatever package.json calls it. */
function shipped(): Versions {
  const sources = globSync('{functions,shared}/**/*.ts', { cwd: ROOT }).map(read).join('\n');
  const imported = Object.entries(own.devDependencies).filter(([name]) =>
    new RegExp(`(?:from|import\\() ?'${name}[/']`).test(sources),
  );
  const framework = '@google-cloud/functions-framework';
  return {
    ...library.dependencies,
    ...emulators.dependencies,
    ...Object.fromEntries(imported),
    [framework]: own.devDependencies[framework]!,
  };
}

test('all that ships has a licence that asks for a notice at most', async () => {
  const { packages } = (await lockFileOf(ROOT, { name: 'shipped', dependencies: shipped() })) as {
    packages: Record<string, { license?: string }>;
  };
  const found = Object.entries(packages).filter(([place]) => place !== '');
  expect(found.map(([place]) => place)).toEqual(
    expect.arrayContaining(['lru-cache', 'zod', '@azure/data-tables', 'gaxios'].map((name) => `node_modules/${name}`)),
  );
  const others = found.map(([place, { license = 'none' }]) => `${place}: ${license}`);
  expect(others.filter((one) => !LICENCES.has(one.split(': ')[1]!))).toEqual([]);
});

test('packages are named with exact versions', () => {
  const inexact = [library.dependencies, emulators.dependencies, emulators.devDependencies, own.devDependencies]
    .flatMap(Object.entries<string>)
    .filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+$/.test(version));
  expect(inexact).toEqual([]);
});

test('no package is deprecated, down to the last', () => {
  const deprecated = Object.entries(lock.packages).filter(([, { deprecated: why }]) => why !== undefined);
  expect(deprecated.map(([name, { deprecated: why }]) => `${name}: ${why}`)).toEqual([]);
});

test('package.json says of each package with an install script whether it may run', () => {
  const places = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const names = new Set(
    places.map(([place]) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)),
  );
  expect(Object.keys(own.allowScripts).toSorted()).toEqual([...names].toSorted());
});

interface Updates {
  readonly 'package-ecosystem': string;
  readonly directory?: string;
  readonly directories?: readonly string[];
}

const MANIFESTS: Readonly<Record<string, RegExp>> = {
  npm: /^package-lock\.json$/,
  'github-actions': /^action\.yml$/,
  terraform: /^main\.tf$/,
  pip: /^requirements\.txt$/,
};

test('the update bot looks where versions are named', () => {
  const { updates } = load(read('.github/dependabot.yml')) as { updates: readonly Updates[] };
  expect(updates.map((one) => one['package-ecosystem']).toSorted()).toEqual(Object.keys(MANIFESTS).toSorted());
  const looked = updates.flatMap(({ 'package-ecosystem': kind, directory = '/', directories = [directory] }) =>
    directories.map((place) => ({ kind, place })),
  );
  expect(looked.filter(({ kind, place }) => !holds(kind, place))).toEqual([]);
});

function holds(kind: string, place: string): boolean {
  // For actions the top means .github/workflows.
  const folder = kind === 'github-actions' && place === '/' ? '.github/actions/login' : place;
  return readdirSync(path.join(ROOT, folder)).some((name) => MANIFESTS[kind]!.test(name));
}

interface Step {
  readonly run?: string;
  readonly uses?: string;
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { readonly permissions?: Readonly<Record<string, string>>; readonly steps: readonly Step[] }>
  >;
}

/** The commands of a step, also of an action of our own. */
function commandsOf({ run, uses = '' }: Step): string[] {
  const [, own] = /^\.\/\.github\/(.+)$/.exec(uses) ?? [];
  if (own === undefined) return run === undefined ? [] : [run];
  return (load(read(`.github/${own}/action.yml`)) as { runs: { steps: Step[] } }).runs.steps.flatMap(commandsOf);
}

const jobs = readdirSync(path.join(ROOT, '.github/workflows')).flatMap((file) => {
  const { permissions, jobs: all } = load(read(`.github/workflows/${file}`)) as Workflow;
  return Object.entries(all).map(([name, job]) => ({
    name: `${file}: ${name}`,
    isTrusted: (job.permissions ?? permissions)['id-token'] === 'write',
    commands: job.steps.flatMap(commandsOf),
  }));
});

test('a job that can have the clouds’ credentials runs no install script, and packages nothing', () => {
  const trusted = jobs.filter(({ isTrusted }) => isTrusted);
  expect(trusted.map(({ name }) => name)).toEqual([
    'compare.yml: compare',
    'deploy.yml: deploy',
    'publish.yml: publish',
  ]);
  const commands = trusted.flatMap((job) => job.commands);
  expect(commands.filter((one) => /\bnpm (ci|install)\b/.test(one) && !one.includes('--ignore-scripts'))).toEqual([]);
  expect(commands.filter((one) => /serverless (deploy|package)\b/.test(one) && !one.includes('--package'))).toEqual([]);
});
