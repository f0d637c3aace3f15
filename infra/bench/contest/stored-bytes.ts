// Bytes in storage of a record that is an entity of its own, by the formulas that the services publish.
// Datastore: https://docs.cloud.google.com/datastore/docs/concepts/storage-size. Azure: "Understanding the Table service data model".
import type { SampleRecord } from '../../../shared/compare/data/records.ts';
import type { Provider } from '../../../shared/compare/dimensions.ts';

/** Bytes an entity or an index entry takes beside its contents. */
const DATASTORE_ROW_BYTES = 32;
const DATASTORE_KEY_BYTES = 16;
/** Each indexed property has an ascending and a descending entry. */
const ENTRIES_A_PROPERTY = 2;
/** The baseline keeps its long text out of the indexes. */
const UNINDEXED = 'notes';

export function plainBytes(provider: Provider, kind: string, record: SampleRecord): number {
  return provider === 'datastore' ? datastoreBytes(kind, record) : azureBytes(record);
}

function text(value: string): number {
  return Buffer.byteLength(value) + 1;
}

/** Entity, its entry in the index of its kind, and two for each indexed property. */
function datastoreBytes(kind: string, { key, fields }: SampleRecord): number {
  const keyBytes = text(kind) + text(key) + DATASTORE_KEY_BYTES;
  let bytes = keyBytes + DATASTORE_ROW_BYTES + datastoreKindEntryBytes(kind, key);
  for (const [name, value] of Object.entries(fields)) {
    const property = text(name) + text(String(value));
    bytes += property;
    if (name !== UNINDEXED) bytes += ENTRIES_A_PROPERTY * (keyBytes + property + text(kind) + DATASTORE_ROW_BYTES);
  }
  return bytes;
}

/** What the index of the kind adds for an entity. */
export function datastoreKindEntryBytes(kind: string, name: string): number {
  return text(kind) + text(kind) + text(name) + DATASTORE_KEY_BYTES + DATASTORE_ROW_BYTES;
}

/** Characters are UTF-16: two bytes each. There are no indexes beside the keys. */
function azureBytes({ key, fields }: SampleRecord): number {
  const keyCharacters = key.length - 1;
  const properties = Object.entries(fields).map(([name, value]) => 8 + 2 * name.length + 4 + 2 * String(value).length);
  return 4 + 2 * keyCharacters + properties.reduce((sum, bytes) => sum + bytes, 0);
}
