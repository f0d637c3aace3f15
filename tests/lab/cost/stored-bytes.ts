// Bytes in storage of an entity, by the services' formulas. Datastore:
// https://docs.cloud.google.com/datastore/docs/concepts/storage-size. Azure: "Understanding the
// Table service data model".
import { type SampleRecord, unindexedIn } from '../../../shared/lab/work/sample-records.ts';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { sum } from '../../../shared/lab/kit/numbers.ts';
import { entityBytes, propertySizes } from '../../../infra/emulators/azurite-front/entity-size.ts';

/** Bytes that an entity, and an index entry, takes beside its contents. */
const DATASTORE_ROW_BYTES = 32;
const DATASTORE_KEY_BYTES = 16;

/** With the index entries that the fields of the baseline's entities have. */
export function plainBytes(provider: Provider, kind: string, { key, fields }: SampleRecord): number {
  // Azure Tables has no indexes beside the keys.
  if (provider === 'azure-tables') return entityBytes('', key.slice(1), propertySizes(fields));
  const keyBytes = text(kind) + text(key) + DATASTORE_KEY_BYTES;
  const properties = Object.entries(fields).map(([name, value]) => text(name) + text(value));
  const kindEntryBytes = text(kind) + keyBytes + DATASTORE_ROW_BYTES;
  const unindexed = unindexedIn(fields);
  const indexed = Object.entries(fields).filter(([name]) => !unindexed.includes(name));
  const entries = indexed.map(
    ([name, value]) => keyBytes + text(name) + text(value) + text(kind) + DATASTORE_ROW_BYTES,
  );
  // Each indexed property has an ascending and a descending entry.
  return keyBytes + DATASTORE_ROW_BYTES + sum(properties) + kindEntryBytes + 2 * sum(entries);
}

function text(value: string): number {
  return Buffer.byteLength(value) + 1;
}
