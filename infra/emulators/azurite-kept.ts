// Writes changes of Azurite's memory to a file before each answer. Azurite's own file would lose
// five seconds when the process is killed.
import type { Server, ServerResponse } from 'node:http';
import { type Change, type Journal, openJournal } from './datastore/storage/journal.ts';

/** A table's entry, or an entity, as LokiJS stores it. */
type Doc = Readonly<Record<string, unknown>>;

/** The part of a LokiJS collection that is used here. */
interface Collection {
  readonly name: string;
  readonly data: readonly Doc[];
  insert(doc: Doc): void;
  findOne(fields: Doc): Doc | null;
  on(events: readonly string[], listener: (doc: Doc) => void): void;
}

/** The part of Azurite's own store used here: the tables' entries, and each table's entities. */
export interface TableStore {
  readonly db: {
    readonly collections: readonly Collection[];
    addCollection(name: string, options: object): Collection;
    getCollection(name: string): Collection | null;
  };
  readonly TABLES_COLLECTION: string;
  createCollectionForTable(table: Doc): void;
  getTableCollectionName(account: unknown, table: unknown): string;
}

interface Kept {
  readonly collection: string;
  readonly doc: Doc;
}

/** Restores the file, then writes to it. Throws if the file holds something else. */
export function keepTables(store: TableStore, server: Server, file: string): Journal {
  const journal = openJournal(file, (entries) => restore(store, [...entries.values()] as Kept[]));
  const changes = watchChanges(store);
  server.prependListener('request', (_request: unknown, response: ServerResponse) => {
    const writeHead = response.writeHead.bind(response) as (...args: readonly unknown[]) => ServerResponse;
    response.writeHead = (...args: readonly unknown[]) => {
      journal.append([...changes.values()]);
      changes.clear();
      return writeHead(...args);
    };
  });
  return journal;
}

/** Restores the tables first, which also makes the collections of their entities. */
function restore(store: TableStore, entries: readonly Kept[]): void {
  const { db, TABLES_COLLECTION: tables } = store;
  for (const { collection, doc } of entries.filter((one) => one.collection === tables)) {
    db.getCollection(collection)!.insert(doc);
    store.createCollectionForTable(doc);
  }
  for (const { collection, doc } of entries.filter((one) => one.collection !== tables))
    db.getCollection(collection)?.insert(doc);
}

/** Collects changes from now on, by key, until the caller clears them. */
function watchChanges(store: TableStore): Map<string, Change> {
  const { db, TABLES_COLLECTION: tables } = store;
  const changes = new Map<string, Change>();
  const gone = (name: string, doc: Doc): void => void changes.set(keyOf(name, doc), [keyOf(name, doc), undefined]);
  const watch = (collection: Collection): Collection => {
    const { name } = collection;
    collection.on(['insert', 'update'], (doc) => changes.set(keyOf(name, doc), changeOf(name, doc)));
    collection.on(['delete'], (doc) => {
      gone(name, doc);
      if (name !== tables) return;
      // No event tells that the table's entities are gone with their collection.
      const entities = store.getTableCollectionName(doc['account'], doc['table']);
      for (const one of db.getCollection(entities)?.data ?? []) gone(entities, one);
    });
    return collection;
  };
  for (const collection of db.collections) watch(collection);
  const add = db.addCollection.bind(db);
  db.addCollection = (name, options) => watch(add(name, options));
  return changes;
}

function changeOf(collection: string, { $loki: _id, meta: _meta, ...doc }: Doc): Change {
  return [keyOf(collection, doc), { collection, doc } satisfies Kept];
}

function keyOf(collection: string, { account, table, PartitionKey, RowKey, accountName }: Doc): string {
  return JSON.stringify([collection, account, table, PartitionKey, RowKey, accountName]);
}
