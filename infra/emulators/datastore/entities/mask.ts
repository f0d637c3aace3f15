// Property masks: which properties a read shows, or a write touches. A path may lead into embedded
// entities.
import type { PropertyMask } from '../wire/protocol.ts';
import { invalid } from '../wire/status.ts';
import { bytesField, WireReader } from '../wire/wire.ts';
import { propertiesOf, propertyEntry, valueOf } from './entities.ts';
import { isReserved, KEY } from './keys.ts';
import { FIELD, type Properties } from './values.ts';

/** By property name: `whole` for the whole property, or the mask of its embedded entity. */
export type Mask = ReadonlyMap<string, Mask | 'whole'>;
type MutableMask = Map<string, MutableMask | 'whole'>;

/** Undefined without a mask: all properties. Throws INVALID_ARGUMENT below `field`. */
export function maskOf(mask: PropertyMask | null, field: string): Mask | undefined {
  if (mask === null) return undefined;
  const root: MutableMask = new Map();
  for (const [place, path] of mask.paths.entries()) {
    const segments = segmentsOf(path);
    const wrong = segments.find((segment) => segment === '' || (isReserved(segment) && path !== KEY));
    if (wrong === '') throw invalid(`${field}.paths[${place}]`, 'must not be empty, nor have an empty part');
    if (wrong !== undefined) throw invalid(`${field}.paths[${place}]`, `"${wrong}" is reserved`);
    if (path !== KEY) add(root, segments);
  }
  return root;
}

/** Splits a path at its dots; a backslash takes away the meaning of the character after it. */
export function segmentsOf(path: string): string[] {
  if (!path.includes('.') && !path.includes('\\')) return [path];
  const segments = [''];
  for (let at = 0; at < path.length; at += 1) {
    if (path[at] === '.') segments.push('');
    else {
      if (path[at] === '\\') at += 1;
      segments[segments.length - 1] += path[at] ?? '';
    }
  }
  return segments;
}

function add(mask: MutableMask, [name = '', ...rest]: readonly string[]): void {
  const present = mask.get(name);
  if (present === 'whole') return;
  if (rest.length === 0) mask.set(name, 'whole');
  else {
    const inner: MutableMask = present ?? new Map();
    mask.set(name, inner);
    add(inner, rest);
  }
}

/** The properties that a mask shows. */
export function masked(properties: Properties, mask: Mask): Properties {
  const shown: Properties = new Map();
  for (const [name, part] of mask) {
    const entry = properties.get(name);
    if (entry === undefined) continue;
    if (part === 'whole') shown.set(name, entry);
    else {
      const inner = masked(embedded(entry), part);
      if (inner.size > 0) shown.set(name, withEmbedded(name, entry, inner));
    }
  }
  return shown;
}

/**
 * Properties after a write under a mask: those the mask names are taken from `given`, or removed if
 * absent there; others stay as `present`.
 */
export function merged(present: Properties, given: Properties, mask: Mask): Properties {
  const result = new Map(present);
  for (const [name, part] of mask) {
    const entry = given.get(name);
    if (part !== 'whole') {
      const inner = merged(embedded(present.get(name)), embedded(entry), part);
      const outer = present.get(name) ?? entry;
      if (outer !== undefined) result.set(name, withEmbedded(name, outer, inner));
    } else if (entry === undefined) {
      result.delete(name);
    } else {
      result.set(name, entry);
    }
  }
  return result;
}

/** The properties of the entity that is a property's value; none if it is another value. */
function embedded(entry: Buffer | undefined): Properties {
  if (entry === undefined) return new Map();
  const value = new WireReader(valueOf(entry));
  while (value.next()) if (value.field === FIELD.entity) return propertiesOf(value.slice());
  return new Map();
}

/** The same entry with other properties in its embedded entity. */
function withEmbedded(name: string, entry: Buffer, properties: Properties): Buffer {
  const parts = bytesField(FIELD.entity, Buffer.concat([...properties.values()]));
  const value = new WireReader(valueOf(entry));
  while (value.next()) {
    if (value.field === FIELD.excludeFromIndexes) parts.push(value.bytes.subarray(value.tagStart, value.end));
  }
  return propertyEntry(name, Buffer.concat(parts));
}
