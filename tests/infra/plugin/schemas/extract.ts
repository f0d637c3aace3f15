// The providers' dashboard, workbook and daily quota were written by hand, from their
// documentation: no provider could be had since. The next run of this replaces them.

// Makes google.json and azurerm.json: the parts of the providers' schemas that infra/ names. Needs
// Terraform and the providers, from a registry or a mirror:

// node tests/infra/plugin/schemas/extract.ts [TRAITS_DIR] npx prettier --ignore-path /dev/null
// --write tests/infra/plugin/schemas

// Traits (replacement, defaults, ranges) come from the providers' own code, as
// TRAITS_DIR/<provider>.json: Terraform's protocol does not carry them.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Attribute, AttributeType, Block, NestedBlock, ProviderSchema, Traits, Use } from './schema.ts';

/** As `terraform providers schema -json` prints them. */
interface PrintedBlock {
  readonly attributes?: Readonly<Record<string, PrintedAttribute>>;
  readonly block_types?: Readonly<
    Record<string, { readonly block: PrintedBlock; readonly min_items?: number; readonly max_items?: number }>
  >;
}

type PrintedAttribute = { readonly type?: unknown } & Partial<Record<'required' | 'optional' | 'deprecated', boolean>>;

type Schemas = Readonly<Record<string, { readonly block: PrintedBlock }>>;

interface Printed {
  readonly provider: { readonly block: PrintedBlock };
  readonly resource_schemas: Schemas;
  readonly data_source_schemas: Schemas;
}

/** By path from the resource, with points. */
type TraitsByPath = Readonly<Record<string, Traits>>;

const HERE = fileURLToPath(new URL('.', import.meta.url));
const INFRA = fileURLToPath(new URL('../../../../infra', import.meta.url));
const PROVIDERS = { google: 'gcp', azurerm: 'azure' } as const;
const OUTPUT_BYTES_MAX = 2 ** 28;

function extract(provider: keyof typeof PROVIDERS, traits: Readonly<Record<string, TraitsByPath>>): ProviderSchema {
  const base = mkdtempSync(path.join(tmpdir(), 'stowage-extract-'));
  try {
    const folder = path.join(base, PROVIDERS[provider]);
    cpSync(path.join(INFRA, PROVIDERS[provider]), folder, { recursive: true });
    terraform(folder, 'init', '-backend=false', '-input=false');
    const { provider_selections: selected } = JSON.parse(terraform(folder, 'version', '-json')) as {
      provider_selections: Record<string, string>;
    };
    const [source, version] = Object.entries(selected).find(([name]) => name.endsWith(`/${provider}`))!;
    const { provider_schemas: schemas } = JSON.parse(terraform(folder, 'providers', 'schema', '-json')) as {
      provider_schemas: Record<string, Printed>;
    };
    const printed = schemas[source]!;
    const files = globSync('**/*.tf', { cwd: folder });
    const text = files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
    const block = blocksOf(new Set(['id', ...(text.match(/\w+/g) ?? [])]));
    const of = (kind: 'resource' | 'data', all: Schemas): Record<string, Block> =>
      Object.fromEntries(
        typesIn(text, kind, provider).map((type) => [type, block(all[type]!.block, traits[type] ?? {})]),
      );
    return {
      provider,
      version,
      configuration: block(printed.provider.block, {}),
      resources: of('resource', printed.resource_schemas),
      data: of('data', printed.data_source_schemas),
    };
  } finally {
    rmSync(base, { recursive: true });
  }
}

function terraform(folder: string, ...args: string[]): string {
  return execFileSync('terraform', [`-chdir=${folder}`, ...args], { encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX });
}

function typesIn(text: string, kind: string, provider: string): string[] {
  const found = text.matchAll(new RegExp(`^${kind} "(${provider}_\\w+)"`, 'gm'));
  return [...new Set([...found].map((match) => match[1]!))].sort();
}

/** Leaves out optional and computed parts that no configuration names. */
function blocksOf(words: ReadonlySet<string>) {
  return function block(printed: PrintedBlock, traits: TraitsByPath, at = ''): Block {
    const { attributes = {}, block_types: nested = {} } = printed;
    const named = Object.entries(attributes).filter(([name, { required }]) => required === true || words.has(name));
    const kept = Object.entries(nested).filter(
      ([name, { min_items: least = 0 }]) => name !== 'timeouts' && (least > 0 || words.has(name)),
    );
    return Object.fromEntries<Attribute | NestedBlock>([
      ...named.map(([name, attribute]) => [name, attributeOf(attribute, traits[at + name])] as const),
      ...kept.map(([name, { block: inner, min_items: least = 0, max_items: most = 0 }]) => {
        const one: NestedBlock = {
          ...(most !== 1 && { many: true }),
          ...(least > 0 && { use: 'required' }),
          ...(traits[at + name]?.forceNew === true && { forceNew: true }),
          block: block(inner, traits, `${at}${name}.`),
        };
        return [name, one] as const;
      }),
    ]);
  };
}

function attributeOf(attribute: PrintedAttribute, traits: Traits = {}): Attribute {
  const known: Traits = { ...(attribute.deprecated === true ? { deprecated: 'yes' } : {}), ...traits };
  const use: Use = attribute.required === true ? 'required' : attribute.optional === true ? 'optional' : 'computed';
  const bare = [typeOf(attribute.type), use] as const;
  return Object.keys(known).length === 0 ? bare : [...bare, known];
}

/** Sets are lists here, and what is made of objects a list of strings: no configuration says it. */
function typeOf(type: unknown): AttributeType {
  if (type === 'number' || type === 'bool') return type;
  if (!Array.isArray(type)) return 'string';
  const [kind, element] = type as [string, unknown];
  return [kind === 'map' ? 'map' : 'list', element === 'number' || element === 'bool' ? element : 'string'];
}

for (const provider of Object.keys(PROVIDERS) as (keyof typeof PROVIDERS)[]) {
  const [dir] = process.argv.slice(2);
  const traits = dir === undefined ? '{}' : readFileSync(path.join(dir, `${provider}.json`), 'utf8');
  const schema = extract(provider, JSON.parse(traits) as Record<string, TraitsByPath>);
  writeFileSync(path.join(HERE, `${provider}.json`), `${JSON.stringify(schema)}\n`);
}
