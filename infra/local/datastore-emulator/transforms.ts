// Property transforms: values that the server computes when it applies a mutation.
import type { Properties } from './entities.ts';
import type { PropertyTransform } from './protocol.ts';
import { status, StatusError } from './status.ts';

export function checkTransforms(transforms: readonly PropertyTransform[]): void {
  if (transforms.length > 0)
    throw new StatusError(status.UNIMPLEMENTED, 'property_transforms: not supported by this emulator');
}

export interface Transformed {
  readonly properties: Properties;
  /** An encoded `Value` for each transform. */
  readonly transformResults: readonly Buffer[];
}

export function transformed(properties: Properties): Transformed {
  return { properties, transformResults: [] };
}
