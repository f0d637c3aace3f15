// JSON merge patch (RFC 7396) on the text: members that nobody names keep their bytes.
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

/** At its beginning. The levels are bounded first, which `members` does not do. */
function readerOf(bytes: Uint8Array): JsonReader {
  return new JsonReader(encodedValue('json', bytes).bytes);
}

function patchAt(reader: JsonReader): Patch {
  if (reader.kind !== 'map') return reader.value().toString();
  return membersOf(reader, () => patchAt(reader));
}

/** A name that stands twice has no one value to merge. */
function membersOf<T>(reader: JsonReader, read: (name: string) => T): Map<string, T> {
  const members = new Map<string, T>();
  reader.members((name) => {
    if (members.has(name)) throw new Problem('invalid', 'an object has a name that stands twice: put the record whole');
    members.set(name, read(name));
  });
  return members;
}

/** The merged text. Passes the target's value, if there is one. */
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

/** The target's members, where the patch names them merged; none of another value. */
function mergedMembers(patch: ReadonlyMap<string, Patch>, target: JsonReader): Map<string, string> {
  if (target.kind === 'map') {
    return membersOf(target, (name) => {
      const change = patch.get(name);
      return change === undefined ? target.value().toString() : merged(change, target);
    });
  }
  target.value();
  return new Map();
}
