// A file that outlives a kill: each key's newest value, in SQLite. Power cuts can cost seconds.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';

/** A key's new value; undefined: it is gone. */
export type Change = readonly [key: string, value: unknown];

export interface Journal {
  /** Returns once the operating system has them; after a kill all of them are there, or none. */
  append(changes: readonly Change[]): void;
  /** Forgets all keys. */
  clear(): void;
  close(): void;
}

/** Tells this emulator's files from other databases: "stow". */
const APPLICATION_ID = 0x7374_6f77;

/** Throws, with nothing changed, if the file holds something else. Makes it where there is none. */
export function openJournal(file: string, restore: (entries: ReadonlyMap<string, unknown>) => void): Journal {
  checkJournal(file);
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID`);
  const rows = database.prepare('SELECT key, value FROM kept').all();
  restore(new Map(rows.map(({ key, value }) => [String(key), deserialize(value as Uint8Array)])));
  const put = database.prepare('REPLACE INTO kept VALUES (?, ?)');
  const remove = database.prepare('DELETE FROM kept WHERE key = ?');
  return {
    append(changes) {
      if (changes.length === 0 || !database.isOpen) return;
      database.exec('BEGIN');
      try {
        for (const [key, value] of changes)
          if (value === undefined) remove.run(key);
          else put.run(key, serialize(value));
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    clear: () => database.exec('DELETE FROM kept'),
    close() {
      if (database.isOpen) database.close();
    },
  };
}

/** Throws if there is a file, and it holds something else. */
export function checkJournal(file: string): void {
  if (existsSync(file) && !isOwn(file))
    throw new Error(`${file} holds no data of this emulator; remove it or name another`);
}

function isOwn(file: string): boolean {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return database.prepare('PRAGMA application_id').get()?.['application_id'] === APPLICATION_ID;
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}
