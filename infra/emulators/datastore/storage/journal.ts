// A file that outlives a kill: a head, then frames of length, checksum and changes.
// The first torn frame ends it. Power cuts can cost seconds.
import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';

/** A key's new value; undefined: it is gone. */
export type Change = readonly [key: string, value: unknown];

export interface Journal {
  /** Returns once the operating system has them; after a kill all of them are there, or none. */
  append(changes: readonly Change[]): void;
  /** Writes the file anew, from what there is; it stays as it is if that throws. */
  rewrite(): void;
  close(): void;
}

export interface JournalOptions {
  /** Takes what the file holds, before anything is appended. */
  readonly restore: (entries: ReadonlyMap<string, unknown>) => void;
  /** All that there is now, for a file written anew. */
  readonly entries: () => Iterable<Change>;
  /** The file is rewritten after growing by its first size and this. Default: 64 MiB. */
  readonly appendedBytesMax?: number;
}

const HEAD = Buffer.from('stowage-emulator-1\n');
const FRAME_HEAD_BYTES = 8;
const APPENDED_BYTES_MAX = 64 * 2 ** 20;

/** Throws, with nothing changed, if the file holds something else. Makes it where there is none. */
export function openJournal(file: string, options: JournalOptions): Journal {
  const { restore, entries, appendedBytesMax = APPENDED_BYTES_MAX } = options;
  restore(readJournal(file));
  let at: number | undefined;
  let bytes = 0;
  let bytesMax = 0;
  const rewrite = (): void => {
    const written = `${file}.new`;
    const next = openSync(written, 'w');
    let end: number;
    try {
      end = write(next, HEAD, 0);
      for (const change of entries()) end = write(next, frameOf([change]), end);
      renameSync(written, file);
    } catch (error) {
      closeSync(next);
      throw error;
    }
    if (at !== undefined) closeSync(at);
    at = next;
    bytes = end;
    bytesMax = 2 * end + appendedBytesMax;
  };
  // Drops torn frames and superseded values.
  rewrite();
  return {
    append(changes) {
      if (changes.length === 0 || at === undefined) return;
      bytes = write(at, frameOf(changes), bytes);
      if (bytes <= bytesMax) return;
      try {
        rewrite();
      } catch {
        // The changes are kept where they were appended; a shorter file can wait.
        bytesMax = bytes + appendedBytesMax;
      }
    },
    rewrite,
    close() {
      if (at !== undefined) closeSync(at);
      at = undefined;
    },
  };
}

/** Throws if there is a file, and it holds something else. */
export function checkJournal(file: string): void {
  const at = openedForReading(file);
  if (at !== undefined) closeSync(at);
}

/** The newest value of each key. Empty if there is no file. */
function readJournal(file: string): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  const at = openedForReading(file);
  if (at === undefined) return entries;
  try {
    for (let frame = readFrame(at); frame !== undefined; frame = readFrame(at))
      for (const [key, value] of frame) {
        if (value === undefined) entries.delete(key);
        else entries.set(key, value);
      }
  } finally {
    closeSync(at);
  }
  return entries;
}

/** A file opened at the end of its head; undefined if there is none. */
function openedForReading(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const at = openSync(file, 'r');
  if (HEAD.equals(read(at, HEAD.length))) return at;
  closeSync(at);
  throw new Error(`${file} holds no data of this emulator; remove it or name another`);
}

function frameOf(changes: readonly Change[]): Buffer {
  const body = serialize(changes);
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt32LE(body.length, 0);
  head.writeUInt32LE(crc32(body), 4);
  return Buffer.concat([head, body]);
}

/** Undefined at the file's end, and where a frame is torn. */
function readFrame(at: number): readonly Change[] | undefined {
  const head = read(at, FRAME_HEAD_BYTES);
  if (head.length < FRAME_HEAD_BYTES) return undefined;
  const bodyBytes = head.readUInt32LE(0);
  if (bodyBytes > fstatSync(at).size) return undefined;
  const body = read(at, bodyBytes);
  if (body.length < bodyBytes || crc32(body) !== head.readUInt32LE(4)) return undefined;
  return deserialize(body) as readonly Change[];
}

/** Returns fewer bytes at the end of the file. */
function read(at: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let filled = 0;
  for (let got = -1; got !== 0 && filled < bytes; filled += got)
    got = readSync(at, buffer, filled, bytes - filled, null);
  return buffer.subarray(0, filled);
}

/** Gives the position behind it, or throws. The next write overwrites a partial one. */
function write(at: number, bytes: Buffer, position: number): number {
  for (let done = 0; done < bytes.length;) done += writeSync(at, bytes, done, bytes.length - done, position + done);
  return position + bytes.length;
}
