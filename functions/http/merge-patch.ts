// JSON merge patch (RFC 7396) on the text: members that nobody names keep their bytes.
import { ByteWriter } from './byte-writer.ts';
import { encodedValue } from './content.ts';
import { CLOSE_OBJECT, COLON, COMMA, JsonReader, OPEN_OBJECT } from './json-reader.ts';
import { Problem } from './problem.ts';

export const MERGE_PATCH = 'application/merge-patch+json';

/** Members by name, or the bytes of any other value. */
type Patch = ReadonlyMap<string, Patch> | Buffer;

/** The value that the patch makes of any value. */
export type MergePatch = (target: Uint8Array) => Uint8Array;

/** Throws the Problem `malformed` for no JSON, `invalid` for a name that stands twice. */
export function mergePatch(bytes: Uint8Array): MergePatch {
  const reader = readerOf(bytes);
  const patch = patchAt(reader);
  return (target) => {
    const out = new ByteWriter();
    write(patch, readerOf(target), out);
    return out.bytes;
  };
}

/** At its beginning. The levels are bounded first, which `members` does not do. */
function readerOf(bytes: Uint8Array): JsonReader {
  return new JsonReader(encodedValue('json', bytes).bytes);
}

function patchAt(reader: JsonReader): Patch {
  if (reader.kind !== 'map') return reader.value();
  const members = new Map<string, Patch>();
  membersOnce(reader, (name) => members.set(name, patchAt(reader)));
  return members;
}

/** A name that stands twice has no one value to merge. */
function membersOnce(reader: JsonReader, read: (name: string) => void): void {
  const names = new Set<string>();
  reader.members((name) => {
    if (names.has(name)) throw new Problem('invalid', 'an object has a name that stands twice: put the record whole');
    names.add(name);
    read(name);
  });
}

/** Writes the merged value, and passes the target's. */
function write(patch: Patch, target: JsonReader | undefined, out: ByteWriter): void {
  if (Buffer.isBuffer(patch)) {
    target?.value();
    return out.write(patch);
  }
  let before = OPEN_OBJECT;
  /** Without a patch the target's value stays. A null of the patch leaves the member out. */
  const member = (name: string, changed: Patch | undefined, kept: JsonReader | undefined): void => {
    if (isNull(changed)) return void kept?.value();
    out.byte(before);
    before = COMMA;
    out.text(JSON.stringify(name));
    out.byte(COLON);
    if (changed === undefined) out.write(kept!.value());
    else write(changed, kept, out);
  };
  const left = new Map(patch);
  if (target?.kind === 'map') {
    membersOnce(target, (name) => {
      member(name, patch.get(name), target);
      left.delete(name);
    });
  } else target?.value();
  for (const [name, changed] of left) member(name, changed, undefined);
  if (before === OPEN_OBJECT) out.byte(OPEN_OBJECT);
  out.byte(CLOSE_OBJECT);
}

function isNull(patch: Patch | undefined): boolean {
  return Buffer.isBuffer(patch) && patch.toString() === 'null';
}
