// Checks one property and counts its bytes as the service does.
import { isUtf8 } from 'node:buffer';
import { INDEXED_BYTES_MAX, NUMBER_BYTES, PROPERTY_BYTES_MAX, STRING_OVERHEAD_BYTES } from '../wire/limits.ts';
import { decoder, type Property } from '../wire/protocol.ts';
import { inside, invalid, unsupported } from '../wire/status.ts';
import { isReserved } from './keys.ts';

/** Properties with their values encoded, by name. */
export type Properties = ReadonlyMap<string, Property>;

/** Bytes of values that take the same ones always, by the service's formula. */
const FIXED_BYTES = new Map([
  ['nullValue', 1],
  ['booleanValue', 1],
  ['integerValue', NUMBER_BYTES],
  ['doubleValue', NUMBER_BYTES],
]);

const decode = decoder('Value');

/** Bytes by the service's formula. Throws naming the property, or the field below its value. */
export function checkProperty({ name: nameBytes, value }: Property): number {
  if (nameBytes.length === 0) throw invalid('properties', 'a property name must not be empty');
  if (!isUtf8(nameBytes)) throw invalid('properties', 'a property name must be valid UTF-8');
  const name = nameBytes.toString();
  if (nameBytes.length > INDEXED_BYTES_MAX)
    throw invalid('properties', `a property name must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  if (isReserved(name)) throw invalid(`properties.${name}`, 'the name is reserved');
  return nameBytes.length + STRING_OVERHEAD_BYTES + inside(`properties.${name}`, () => checkValue(value));
}

function checkValue(bytes: Buffer): number {
  const { valueType: type, stringValue: text, blobValue: blob, meaning, excludeFromIndexes } = decode(bytes);
  if (meaning !== 0) throw unsupported('meaning');
  if (type === undefined) throw invalid('', 'has no value set');
  if (type === 'blobValue') return checkLength('blob_value', blob.length, excludeFromIndexes);
  if (type === 'stringValue') {
    if (!isUtf8(text)) throw invalid('string_value', 'must be valid UTF-8');
    return checkLength('string_value', text.length, excludeFromIndexes) + STRING_OVERHEAD_BYTES;
  }
  const fixed = FIXED_BYTES.get(type);
  if (fixed === undefined) throw unsupported(`the kind ${type}`);
  return fixed;
}

function checkLength(name: string, sizeBytes: number, isExcluded: boolean): number {
  if (sizeBytes > PROPERTY_BYTES_MAX)
    throw invalid(name, `has ${sizeBytes} bytes; a value must not be larger than ${PROPERTY_BYTES_MAX} bytes`);
  if (!isExcluded && sizeBytes > INDEXED_BYTES_MAX)
    throw invalid(name, `has ${sizeBytes} bytes; an indexed value must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  return sizeBytes;
}
