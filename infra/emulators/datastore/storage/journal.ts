// A file with each key's newest value, in SQLite. A killed process loses nothing of it; a power cut
// may lose the last changes.
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';

/** A key's new value; undefined if the key is gone. */
export type Change = readonly [key: string, value: unknown];

export interface Journal {
  /** Returns once the operating system has the changes. A kill keeps all of them, or none. */
  append(changes: readonly Change[]): void;
  /** Forgets all keys. */
  clear(): void;
  close(): void;
}

/** Tells this emulator's files from other databases: "stow". */
const APPLICATION_ID = 0x7374_6f77;
/** SQLite's code for a file that is no database. */
const NOT_A_DATABASE = 26;

/** Makes a missing file. Throws, with nothing changed, if a file holds something else. */
export function openJournal(file: string, restore: (entries: ReadonlyMap<string, unknown>) => void): Journal {
  checkJournal(file);
  const database = openDatabase(file);
  try {
    restore(readEntries(database));
  } catch (error) {
    database.close();
    throw error;
  }
  const put = database.prepare('REPLACE INTO kept VALUES (?, ?)');
  const remove = database.prepare('DELETE FROM kept WHERE key = ?');
  return {
    append(changes) {
      if (changes.length === 0 || !database.isOpen) return;
      database.exec('BEGIN');
      try {
        for (const [key, value] of changes)
          if (value === undefined) remove.run(Buffer.from(key));
          else put.run(Buffer.from(key), serialize(value));
        database.exec('COMMIT');
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    clear: () => database.exec('DELETE FROM kept'),
    close() {
      if (database.isOpen) database.close();
    },
  };
}

/** Makes an empty file a journal. */
function readEntries(database: DatabaseSync): Map<string, unknown> {
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID`);
  const rows = database.prepare('SELECT key, value FROM kept').all();
  return new Map(rows.map(({ key, value }) => [textOf(key), deserialize(value as Uint8Array)]));
}

/** Throws if the file exists and holds something else. */
export function checkJournal(file: string): void {
  if (existsSync(file) && !isOwn(file))
    throw new Error(`${file} holds no data of this emulator; remove it or name another`);
}

/** True also for a file that a kill left empty. Not read-only, as SQLite may have to repair it. */
function isOwn(file: string): boolean {
  const database = openDatabase(file);
  try {
    const { application_id: id } = database.prepare('PRAGMA application_id').get()!;
    const { schema_version: version } = database.prepare('PRAGMA schema_version').get()!;
    return id === APPLICATION_ID || (id === 0 && version === 0);
  } catch (error) {
    if ((error as { errcode?: number }).errcode === NOT_A_DATABASE) return false;
    throw error;
  } finally {
    database.close();
  }
}

/** Loads SQLite only when it is needed, because Node.js 22 warns about it. */
function openDatabase(file: string): DatabaseSync {
  return new (process.getBuiltinModule('node:sqlite').DatabaseSync)(file);
}

/** Keys are stored as bytes, because Node.js 22 cuts a text at its first NUL. */
function textOf(key: unknown): string {
  return Buffer.from(key as Uint8Array).toString();
}
