// JSON merge patch (RFC 7396) of the text, so that members which are not named keep their bytes.
import { encodedValue } from './content.ts';
import { JsonReader } from './json-reader.ts';
import { Problem } from './problem.ts';

export const MERGE_PATCH = 'application/merge-patch+json';

/** Members by name, or the text of any other value. */
type Patch = ReadonlyMap<string, Patch> | string;

/** The value that the patch makes of any value. */
export type MergePatch = (target: Uint8Array) => Uint8Array;

/** Throws the Problem `malformed` for no JSON, `invalid` for a name that stands twice. */
export function mergePatch(bytes: Uint8Array): MergePatch {
  const patch = patchAt(readerOf(bytes));
  return (target) => Buffer.from(merged(patch, readerOf(target)));
}

/** Checks the value first, because `members` does not bound its levels. */
function readerOf(bytes: Uint8Array): JsonReader {
  return new JsonReader(encodedValue('json', bytes).bytes);
}

function patchAt(reader: JsonReader): Patch {
  return reader.kind === 'map' ? membersOf(reader, () => patchAt(reader)) : reader.value().toString();
}

/** Throws for a name that occurs twice, because it has no single value to merge. */
function membersOf<T>(reader: JsonReader, read: (name: string) => T): Map<string, T> {
  const members = new Map<string, T>();
  reader.members((name) => {
    if (members.has(name)) throw new Problem('invalid', 'an object has a name that stands twice: put the record whole');
    members.set(name, read(name));
  });
  return members;
}

/** The merged text. Reads the target's value, if there is one. */
function merged(patch: Patch, target?: JsonReader): string {
  if (typeof patch === 'string') {
    target?.value();
    return patch;
  }
  const members = target === undefined ? new Map<string, string>() : mergedMembers(patch, target);
  for (const [name, change] of patch) {
    if (change === 'null') members.delete(name);
    else if (!members.has(name)) members.set(name, merged(change));
  }
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** The target's members, merged if the patch names them. A target that is no map has none. */
function mergedMembers(patch: ReadonlyMap<string, Patch>, target: JsonReader): Map<string, string> {
  if (target.kind === 'map')
    return membersOf(target, (name) => {
      const change = patch.get(name);
      return change === undefined ? target.value().toString() : merged(change, target);
    });
  target.value();
  return new Map();
}
