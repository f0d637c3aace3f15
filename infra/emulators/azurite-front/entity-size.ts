// An entity's bytes by Azure's published formula: 4, two per character of both keys, and for each
// property 8, two per character of its name, and its value.

/** An entity's JSON: scalars, each with its type beside it if JSON has no such type. */
export type Body = Readonly<Record<string, unknown>>;

export const ENTITY_BYTES_MAX = 1_048_576;
/** The most properties of an entity, without its two keys and the timestamp. */
export const PROPERTIES_MAX = 252;

const TYPE = '@odata.type';
const SYSTEM = new Set(['PartitionKey', 'RowKey', 'Timestamp']);

/** The bytes of each of an entity's own properties, by name. */
export type PropertySizes = ReadonlyMap<string, number>;

export function propertySizes(body: Body): PropertySizes {
  return mergedSizes(new Map(), body);
}

/** The sizes after a merge, which replaces the properties that it names and keeps the others. */
export function mergedSizes(present: PropertySizes, patch: Body): PropertySizes {
  const sizes = new Map(present);
  for (const name of Object.keys(patch)) {
    if (name.includes('@') || name.startsWith('odata.') || SYSTEM.has(name)) continue;
    if (patch[name] === null) sizes.delete(name);
    else sizes.set(name, 8 + 2 * name.length + valueBytes(patch[name], patch[name + TYPE]));
  }
  return sizes;
}

export function entityBytes(partitionKey: string, rowKey: string, properties: PropertySizes): number {
  let propertyBytes = 0;
  for (const sizeBytes of properties.values()) propertyBytes += sizeBytes;
  return 4 + 2 * (partitionKey.length + rowKey.length) + propertyBytes;
}

const FIXED_BYTES: Readonly<Record<string, number>> = {
  'Edm.Boolean': 1,
  'Edm.Int32': 4,
  'Edm.Int64': 8,
  'Edm.Double': 8,
  'Edm.DateTime': 8,
  'Edm.Guid': 16,
};

function valueBytes(value: unknown, type: unknown): number {
  const fixed = typeof type === 'string' ? FIXED_BYTES[type] : undefined;
  if (fixed !== undefined) return fixed;
  if (type === 'Edm.Binary') return 4 + Buffer.byteLength(String(value), 'base64');
  if (typeof value === 'boolean') return 1;
  if (typeof value === 'number') return Number.isInteger(value) ? 4 : 8;
  return 4 + 2 * String(value).length;
}
