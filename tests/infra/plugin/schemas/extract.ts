// Makes google.json and azurerm.json: what the providers' schemas say about the resource types that infra/ uses. The source is the
// metadata of the providers' bindings, two large packages, which are needed here only:
//   npm install --prefix DIR --ignore-scripts --legacy-peer-deps @cdktf/provider-google@16.12.0 @cdktf/provider-azurerm@14.23.0
//   node tests/infra/plugin/schemas/extract.ts DIR
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AttributeType, Block, ProviderSchema } from './schema.ts';

interface Property {
  readonly name: string;
  readonly optional?: boolean;
  readonly type: BindingType;
  readonly docs?: { readonly summary?: string; readonly remarks?: string };
}

interface BindingType {
  readonly primitive?: string;
  readonly fqn?: string;
  readonly collection?: { readonly kind: 'array' | 'map'; readonly elementtype: BindingType };
  readonly union?: { readonly types: readonly BindingType[] };
}

type Types = Readonly<Record<string, { readonly properties?: readonly Property[] }>>;

const HERE = fileURLToPath(new URL('.', import.meta.url));
const INFRA = fileURLToPath(new URL('../../../../infra', import.meta.url));
const PROVIDERS = { google: 'gcp', azurerm: 'azure' } as const;

/** Attributes of every binding that no provider has. */
const OF_BINDINGS = new Set([
  'tfResourceType',
  'fqn',
  'internalValue',
  'complexObjectIndex',
  'complexObjectIsFromSet',
  'connection',
  'count',
  'dependsOn',
  'forEach',
  'lifecycle',
  'provider',
  'provisioners',
  'timeouts',
  'cdktfStack',
  'node',
  'friendlyUniqueId',
  'constructNodeMetadata',
  'rawOverrides',
  'terraformGeneratorMetadata',
  'terraformMetaArguments',
  'terraformResourceType',
  'creationStack',
]);

/** The types that a folder's files name, with their attributes and blocks. */
function extract(provider: string, packageDir: string, folder: string): ProviderSchema {
  const { types } = JSON.parse(readFileSync(path.join(packageDir, '.jsii'), 'utf8')) as { types: Types };
  const { cdktf } = JSON.parse(readFileSync(path.join(packageDir, 'package.json'), 'utf8')) as Versioned;
  const prefix = `@cdktf/provider-${provider}`;
  const title = pascal(provider);
  const of = (kind: 'resource' | 'data'): Record<string, Block> =>
    Object.fromEntries(
      namedIn(folder, kind, provider).map((type) => {
        const name = kind === 'data' ? `Data${pascal(type)}` : pascal(type.slice(provider.length + 1));
        const base = `${prefix}.${name[0]!.toLowerCase()}${name.slice(1)}.${name}`;
        // A name that would otherwise be taken twice ends in an A.
        const own = `${base}Config` in types ? base : `${base}A`;
        return [type, blockOf(types, `${own}Config`, own)];
      }),
    );
  return {
    provider,
    version: cdktf.provider.version,
    configuration: blockOf(types, `${prefix}.provider.${title}ProviderConfig`, undefined),
    resources: of('resource'),
    data: of('data'),
  };
}

interface Versioned {
  readonly cdktf: { readonly provider: { readonly version: string } };
}

function namedIn(folder: string, kind: string, provider: string): string[] {
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tf'))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('\n');
  const found = text.matchAll(new RegExp(`^${kind} "(${provider}_\\w+)"`, 'gm'));
  return [...new Set([...found].map((match) => match[1]!))].sort();
}

/** `settable` lists what a configuration may say; `whole`, if there is one, what the provider fills in as well. */
function blockOf(types: Types, settable: string, whole: string | undefined): Block {
  const attributes: Record<string, Block['attributes'][string]> = {};
  const blocks: Record<string, Block['blocks'][string]> = {};
  const given = types[settable]?.properties ?? [];
  if (types[settable] === undefined) throw new Error(`the bindings do not know ${settable}`);
  for (const property of given.filter(({ name }) => !OF_BINDINGS.has(name))) {
    const name = nameOf(property);
    const use = property.optional === true ? 'optional' : 'required';
    const nested = structOf(property.type);
    if (nested === undefined) attributes[name] = [typeOf(property.type), use];
    else blocks[name] = { many: nested.many, use, ...blockOf(types, nested.fqn, `${nested.fqn}OutputReference`) };
  }
  const known = new Set(given.map(({ name }) => name));
  for (const { name, type } of types[whole ?? '']?.properties ?? []) {
    if (OF_BINDINGS.has(name) || name.endsWith('Input') || known.has(name)) continue;
    if (type.fqn === undefined || type.fqn.startsWith('cdktf.')) attributes[snake(name)] = [typeOf(type), 'computed'];
  }
  return { attributes, blocks };
}

/** The struct behind a nested block; undefined for a plain attribute. */
function structOf(type: BindingType): { readonly fqn: string; readonly many: boolean } | undefined {
  if (type.union !== undefined) return type.union.types.map(structOf).find((one) => one !== undefined);
  if (type.collection?.kind === 'array') {
    const element = structOf(type.collection.elementtype);
    return element === undefined ? undefined : { ...element, many: true };
  }
  return type.fqn === undefined || type.fqn.startsWith('cdktf.') ? undefined : { fqn: type.fqn, many: false };
}

function typeOf(type: BindingType): AttributeType {
  if (type.union !== undefined) return typeOf(type.union.types.find(({ fqn }) => fqn === undefined)!);
  if (type.collection !== undefined) {
    const element = typeOf(type.collection.elementtype) as 'string' | 'number' | 'bool';
    return [type.collection.kind === 'array' ? 'list' : 'map', element];
  }
  if (type.fqn !== undefined)
    return type.fqn.includes('Map') ? ['map', 'string'] : type.fqn.includes('List') ? ['list', 'string'] : 'bool';
  return type.primitive === 'boolean' ? 'bool' : (type.primitive as 'string' | 'number');
}

/** The provider's own name stands in the link to its documentation. */
function nameOf({ name, docs }: Property): string {
  return /#(\w+) /.exec(`${docs?.summary ?? ''} ${docs?.remarks ?? ''}`)?.[1] ?? snake(name);
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

for (const [provider, folder] of Object.entries(PROVIDERS)) {
  const packageDir = path.join(process.argv[2] ?? '', 'node_modules', '@cdktf', `provider-${provider}`);
  const schema = extract(provider, packageDir, path.join(INFRA, folder));
  writeFileSync(path.join(HERE, `${provider}.json`), `${JSON.stringify(schema)}\n`);
}
