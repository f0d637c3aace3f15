// Property masks: which properties a read shows, or a write touches.
import type { PropertyMask } from '../wire/protocol.ts';
import { inside, invalid } from '../wire/rpc-status.ts';
import { checkPath, KEY } from './entity-keys.ts';
import type { Properties } from './entity-values.ts';

/** Names of properties. */
export type Mask = ReadonlySet<string>;

/** Undefined without a mask: all properties. Throws an error that names a wrong path. */
export function maskOf(mask: PropertyMask | null): Mask | undefined {
  if (mask === null) return undefined;
  for (const [place, path] of mask.paths.entries())
    inside(`property_mask.paths[${place}]`, () => {
      if (path === '') throw invalid('', 'must not be empty');
      checkPath(path, '');
    });
  return new Set(mask.paths.filter((path) => path !== KEY));
}

/** The properties that a mask shows. */
export function masked(properties: Properties, mask: Mask): Properties {
  return new Map([...properties].filter(([name]) => mask.has(name)));
}

/** Takes the properties that the mask names from `given`, and all others from `present`. */
export function merged(present: Properties, given: Properties, mask: Mask): Properties {
  const kept = [...present].filter(([name]) => !mask.has(name));
  return new Map([...kept, ...masked(given, mask)]);
}
