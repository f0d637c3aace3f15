// The structure of the project, as rules that a machine can check: who imports whom, what the engine may touch, what lies at the top.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Made by the tools, and ignored by git. */
const GENERATED = new Set([
  'node_modules',
  '.git',
  '.build',
  'dist',
  'report',
  'coverage',
  '.serverless',
  '.terraform',
  '.vscode',
  '.idea',
]);

interface Rule {
  /** Files it is for, by path; the first rule that fits a file counts. */
  readonly from: RegExp;
  /** What they may import: project files by path, packages by name, Node's modules with `node:`. */
  readonly may: readonly RegExp[];
}

const PURE_NODE = /^node:(buffer|crypto|util|zlib)$/;
const STORE = /^shared\/store\/index\.ts$/;
const PUBLIC =
  /^(shared\/(store\/index|drivers\/[a-z-]+|compare\/[a-z0-9-]+|compare\/baseline\/[a-z-]+)|functions\/[a-z-]+)\.ts$/;
/** Counts what passes through any driver; knows no provider. */
const MEASURED = /^shared\/drivers\/measured\.ts$/;
const DATASTORE_SDK = /^(@google-cloud\/datastore|google-gax|google-auth-library|@grpc\/grpc-js)(\/|$)/;
const AZURE_SDK = /^@azure\/(data-tables|core-rest-pipeline|core-auth|core-util|identity)(\/|$)/;

const RULES: readonly Rule[] = [
  // Time, chance and threads enter the engine here and nowhere else.
  {
    from: /^shared\/store\/runtime\.ts$/,
    may: [/^shared\/store\/(compression-thread|compressor)\.ts$/, /^node:(crypto|os|timers\/promises)$/],
  },
  {
    from: /^shared\/store\/compression-thread\.ts$/,
    may: [/^shared\/store\/(api|compression|compressor)\.ts$/, /^node:worker_threads$/],
  },
  { from: /^shared\/store\//, may: [/^shared\/store\//, /^(msgpackr|lru-cache|p-limit|xxhash-wasm)$/, PURE_NODE] },
  {
    from: /^shared\/drivers\/datastore/,
    may: [
      /^shared\/drivers\/(datastore\/[a-z]+|factory|misuse|outcomes)\.ts$/,
      /^shared\/store\/(driver|errors|index|options|runtime)\.ts$/,
      DATASTORE_SDK,
      /^node:/,
    ],
  },
  {
    from: /^shared\/drivers\/azure/,
    may: [
      /^shared\/drivers\/(azure-tables\/[a-z]+|factory|misuse|outcomes)\.ts$/,
      /^shared\/store\/(driver|errors|index|options|runtime)\.ts$/,
      AZURE_SDK,
      /^node:/,
    ],
  },
  {
    from: /^shared\/drivers\//,
    may: [
      /^shared\/drivers\/(factory|misuse|outcomes)\.ts$/,
      /^shared\/store\/(driver|errors|index|options|runtime)\.ts$/,
      /^node:/,
    ],
  },
  {
    from: /^shared\/compare\/baseline\/datastore\.ts$/,
    may: [/^shared\/compare\/[a-z]+\.ts$/, /^shared\/compare\/baseline\/baseline\.ts$/, DATASTORE_SDK],
  },
  {
    from: /^shared\/compare\/baseline\/azure-tables\.ts$/,
    may: [/^shared\/compare\/[a-z]+\.ts$/, /^shared\/compare\/baseline\/baseline\.ts$/, AZURE_SDK],
  },
  {
    from: /^shared\/compare\//,
    may: [
      /^shared\/compare\/[a-z0-9-]+\.ts$/,
      /^shared\/compare\/baseline\/baseline\.ts$/,
      STORE,
      /^(zod|p-limit|hdr-histogram-js|echarts)$/,
      /^node:timers\/promises$/,
    ],
  },
  {
    from: /^functions\/gcp/,
    may: [
      /^functions\//,
      STORE,
      /^shared\/drivers\/datastore\.ts$/,
      MEASURED,
      /^shared\/compare\/(baseline\/datastore|[a-z]+)\.ts$/,
      DATASTORE_SDK,
      /^zod$/,
      /^node:/,
    ],
  },
  {
    from: /^functions\/azure/,
    may: [
      /^functions\//,
      STORE,
      /^shared\/drivers\/azure-tables\.ts$/,
      MEASURED,
      /^shared\/compare\/(baseline\/azure-tables|[a-z]+)\.ts$/,
      AZURE_SDK,
      /^@azure\/functions$/,
      /^zod$/,
      /^node:/,
    ],
  },
  { from: /^functions\/cli/, may: [PUBLIC, /^[a-z@]/] },
  // No SDK: what both clouds share knows neither.
  {
    from: /^functions\//,
    may: [
      /^functions\/(?!gcp|azure|cli)/,
      STORE,
      MEASURED,
      /^shared\/compare\/[a-z-]+\.ts$/,
      /^(hono|zod|lru-cache|msgpackr)(\/|$)/,
      /^node:/,
    ],
  },
  // Others may want the emulator alone: it knows nothing of this project.
  {
    from: /^infra\/local\/datastore-emulator\//,
    may: [
      /^infra\/local\/datastore-emulator\//,
      /^(@grpc\/grpc-js|@google-cloud\/datastore-api|protobufjs)(\/|$)/,
      /^node:/,
    ],
  },
  { from: /^infra\//, may: [/^infra\//, PUBLIC, /^(?!functions\/|shared\/|tests\/)/] },
  { from: /^tests\//, may: [/./] },
  { from: /^[a-z.]+\.ts$/, may: [/^[a-z]/] },
];

interface Source {
  /** From the root, with slashes. */
  readonly file: string;
  readonly text: string;
}

const sources = filesBelow('.').filter(({ file }) => /\.(ts|mts|mjs|js)$/.test(file));

describe('imports', () => {
  it('follow the table', () => {
    const wrong = sources.flatMap(({ file, text }) => {
      const rule = RULES.find(({ from }) => from.test(file));
      if (rule === undefined) return [`${file} is under no rule`];
      return importsOf(file, text)
        .filter((target) => !rule.may.some((pattern) => pattern.test(target)))
        .map((target) => `${file} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('never reach into tests', () => {
    const wrong = sources.filter(
      ({ file, text }) =>
        !file.startsWith('tests/') && importsOf(file, text).some((target) => target.startsWith('tests/')),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  it('name files that exist, with their extensions', () => {
    const missing = sources.flatMap(({ file, text }) =>
      importsOf(file, text)
        .filter((target) => /^(functions|infra|shared|tests)\//.test(target) && !existsSync(path.join(ROOT, target)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(missing).toEqual([]);
  });

  it('of the table check something: there are files under most rules', () => {
    const used = new Set(sources.map(({ file }) => RULES.findIndex(({ from }) => from.test(file))));
    expect(used.size).toBeGreaterThan(10);
  });
});

describe('the engine', () => {
  const engine = sources.filter(({ file }) => file.startsWith('shared/store/') && file !== 'shared/store/runtime.ts');

  it('takes time, chance and the environment from outside', () => {
    const global =
      /\b(Date\.now|new Date|performance\.now|setTimeout|setInterval|setImmediate|queueMicrotask|Math\.random|randomBytes|randomUUID|process\.|fetch\()/;
    expect(engine.filter(({ text }) => global.test(withoutComments(text))).map(({ file }) => file)).toEqual([]);
  });

  it('knows no provider', () => {
    const wrong = engine.filter(({ text }) => /datastore|azure|firestore/i.test(withoutComments(text)));
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });
});

describe('the library', () => {
  const library = sources.filter(({ file }) => /^shared\/(store|drivers)\//.test(file));

  it('awaits nothing while it loads, so that CommonJS can require it', () => {
    const waiting = library.filter(({ text }) => /^\S.*\bawait\b/m.test(withoutComments(text)));
    expect(waiting.map(({ file }) => file)).toEqual([]);
  });
});

describe('the top level', () => {
  it('holds four folders and what tools look for, nothing else', () => {
    const entries = readdirSync(ROOT).filter((name) => !GENERATED.has(name));
    const allowed = new Set([
      'functions',
      'infra',
      'shared',
      'tests',
      'serverless.yml',
      'package.json',
      'package-lock.json',
      'README.md',
      'LICENSE',
      'tsconfig.json',
      'vitest.config.ts',
    ]);
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

  it('are named with exact versions', () => {
    const versions = { ...own.dependencies, ...own.devDependencies };
    const inexact = Object.entries(versions).filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+$/.test(version));
    expect(inexact).toEqual([]);
  });

  it('are not deprecated, down to the last', () => {
    const deprecated = Object.entries(lock.packages).filter(([, { deprecated: why }]) => why !== undefined);
    expect(deprecated.map(([name, { deprecated: why }]) => `${name}: ${why}`)).toEqual([]);
  });

  it('that the store needs are its dependencies, and no others are', () => {
    const imported = new Set(
      sources
        .filter(({ file }) => file.startsWith('shared/store/'))
        .flatMap(({ file, text }) => importsOf(file, text))
        .filter((target) => !/^(node:|shared\/)/.test(target)),
    );
    expect(Object.keys(own.dependencies).toSorted()).toEqual([...imported].toSorted());
  });

  it('of the clouds are optional peers', () => {
    for (const name of Object.keys(own.peerDependencies))
      expect(own.peerDependenciesMeta[name]).toEqual({ optional: true });
  });
});

describe('every file', () => {
  const all = filesBelow('.').filter(
    ({ file }) => file !== 'package-lock.json' && file !== 'tests/architecture.test.ts',
  );

  it('keeps to itself where it was written', () => {
    const wrong = all.filter(({ text }) =>
      /\/work\/|\.\.\/shared\/(design|protocol|facts|style|field|seeds)\b|\/tmp\/brief/.test(text),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  it('opens with a comment that says what it is', () => {
    const silent = sources.filter(
      ({ file, text }) => !/^(#!.*\n)?(\/\/|\/\*\*?) ?\S/.test(text) && !/(\.test|vitest\.config)\.ts$/.test(file),
    );
    expect(silent.map(({ file }) => file)).toEqual([]);
  });

  it('of code has at most 350 lines', () => {
    const long = sources.filter(({ file, text }) => !file.startsWith('tests/') && text.split('\n').length > 351);
    expect(long.map(({ file }) => file)).toEqual([]);
  });
});

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
