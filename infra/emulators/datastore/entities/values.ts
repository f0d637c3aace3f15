// Checks one encoded property value and counts its bytes as the service does, mostly undecoded.
import { isUtf8 } from 'node:buffer';
import { INDEXED_BYTES_MAX, NUMBER_BYTES, PROPERTY_BYTES_MAX, STRING_OVERHEAD_BYTES } from '../wire/limits.ts';
import { invalid, unsupported, within } from '../wire/status.ts';
import { BYTES, FIXED64, VARINT, type WireReader } from '../wire/wire.ts';
import { isReserved } from './keys.ts';

/** Field numbers of `Value`, as entity.proto has them. */
export const KEY_VALUE = 5;
const MEANING = 14;
const EXCLUDE_FROM_INDEXES = 19;

/** The values that an entity may hold: name and type on the wire, by field number. */
const KINDS: ReadonlyMap<number, { readonly name: string; readonly wireType: number }> = new Map([
  [1, { name: 'boolean_value', wireType: VARINT }],
  [2, { name: 'integer_value', wireType: VARINT }],
  [3, { name: 'double_value', wireType: FIXED64 }],
  [11, { name: 'null_value', wireType: VARINT }],
  [17, { name: 'string_value', wireType: BYTES }],
  [18, { name: 'blob_value', wireType: BYTES }],
]);

/** Encoded entries of `Entity.properties`, tag included, by name. */
export type Properties = Map<string, Buffer>;

/** Bytes by the service's formula. Throws naming the field below the value. */
function checkValue(reader: WireReader): number {
  let content: { readonly name: string; readonly bytes: Buffer } | undefined;
  let isExcluded = false;
  while (reader.next()) {
    const kind = KINDS.get(reader.field);
    if (reader.field === EXCLUDE_FROM_INDEXES) isExcluded = reader.flag();
    else if (reader.field === MEANING) throw unsupported('meaning');
    else if (kind === undefined) throw unsupported(`a value of the field ${reader.field}`);
    // Refused here: later readers trust it unchecked.
    else if (kind.wireType !== reader.type) throw invalid('', 'is not a well-formed protobuf message');
    else content = { name: kind.name, bytes: reader.bytes.subarray(reader.start, reader.end) };
  }
  if (content === undefined) throw invalid('', 'has no value set');
  const { name, bytes } = content;
  if (name === 'string_value' || name === 'blob_value') {
    checkLength(name, bytes.length, isExcluded);
    if (name === 'blob_value') return bytes.length;
    if (!isUtf8(bytes)) throw invalid(name, 'must be valid UTF-8');
    return bytes.length + STRING_OVERHEAD_BYTES;
  }
  return name === 'integer_value' || name === 'double_value' ? NUMBER_BYTES : 1;
}

function checkLength(name: string, sizeBytes: number, isExcluded: boolean): void {
  if (sizeBytes > PROPERTY_BYTES_MAX)
    throw invalid(name, `has ${sizeBytes} bytes; a value must not be larger than ${PROPERTY_BYTES_MAX} bytes`);
  if (!isExcluded && sizeBytes > INDEXED_BYTES_MAX)
    throw invalid(name, `has ${sizeBytes} bytes; an indexed value must not be longer than ${INDEXED_BYTES_MAX} bytes`);
}

export interface CheckedProperty {
  readonly name: string;
  readonly sizeBytes: number;
}

/** An entry of `Entity.properties`. */
export function checkProperty(entry: WireReader): CheckedProperty {
  let name = '';
  let nameBytes = 0;
  let value: WireReader | undefined;
  while (entry.next()) {
    if (entry.field === 1) {
      if (!isUtf8(entry.slice())) throw invalid('properties', 'a property name must be valid UTF-8');
      name = entry.text();
      nameBytes = entry.sizeBytes;
    } else if (entry.field === 2) {
      value = entry.message();
    }
  }
  if (nameBytes === 0) throw invalid('properties', 'a property name must not be empty');
  if (nameBytes > INDEXED_BYTES_MAX)
    throw invalid('properties', `a property name must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  if (isReserved(name)) throw invalid(`properties.${name}`, 'the name is reserved');
  try {
    if (value === undefined) throw invalid('', 'has no value set');
    return { name, sizeBytes: nameBytes + STRING_OVERHEAD_BYTES + checkValue(value) };
  } catch (error) {
    throw within(`properties.${name}`, error);
  }
}
