// Bytes in storage of an entity, by the services' formulas. Datastore:
// https://docs.cloud.google.com/datastore/docs/concepts/storage-size. Azure: "Understanding the
// Table service data model".
import { type SampleRecord, unindexedIn } from '../../../shared/lab/work/records.ts';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { sum } from '../../../shared/lab/kit/numbers.ts';
import { entityBytes, propertySizes } from '../../../infra/emulators/azurite-front/size.ts';

/** Bytes an entity or an index entry takes beside its contents. */
const DATASTORE_ROW_BYTES = 32;
const DATASTORE_KEY_BYTES = 16;
/** Each indexed property has an ascending and a descending entry. */
const ENTRIES_A_PROPERTY = 2;

/** With the index entries that its fields have by default. */
export function plainBytes(provider: Provider, kind: string, record: SampleRecord): number {
  return unindexedBytes(provider, kind, record) + (provider === 'datastore' ? fieldEntryBytes(kind, record) : 0);
}

/** As `plainBytes`, all fields kept out of the indexes, as a careful user may do. */
function unindexedBytes(provider: Provider, kind: string, record: SampleRecord): number {
  return provider === 'datastore' ? datastoreBytes(kind, record) : azureBytes(record);
}

function text(value: string): number {
  return Buffer.byteLength(value) + 1;
}

/** The entity and its entry in the index of its kind. */
function datastoreBytes(kind: string, { key, fields }: SampleRecord): number {
  const properties = Object.entries(fields).map(([name, value]) => propertyBytes(name, value));
  return keyBytes(kind, key) + DATASTORE_ROW_BYTES + sum(properties) + datastoreKindEntryBytes(kind, key);
}

/** Two entries for each field that the baseline leaves indexed. */
function fieldEntryBytes(kind: string, { key, fields }: SampleRecord): number {
  const unindexed = unindexedIn(fields);
  const indexed = Object.entries(fields).filter(([name]) => !unindexed.includes(name));
  const entries = indexed.map(
    ([name, value]) => keyBytes(kind, key) + propertyBytes(name, value) + text(kind) + DATASTORE_ROW_BYTES,
  );
  return ENTRIES_A_PROPERTY * sum(entries);
}

function keyBytes(kind: string, key: string): number {
  return text(kind) + text(key) + DATASTORE_KEY_BYTES;
}

function propertyBytes(name: string, value: unknown): number {
  return text(name) + text(String(value));
}

/** Bytes that the index of the kind adds for an entity. */
function datastoreKindEntryBytes(kind: string, name: string): number {
  return text(kind) + text(kind) + text(name) + DATASTORE_KEY_BYTES + DATASTORE_ROW_BYTES;
}

/** There are no indexes beside the keys. */
function azureBytes({ key, fields }: SampleRecord): number {
  return entityBytes('', key.slice(1), propertySizes(fields));
}
