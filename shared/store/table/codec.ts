// Values in their stored form, for callers that move records.
import type { EncodedValue } from '../contract/options.ts';
import { decodeValue, encodeValue } from './values.ts';

/**
 * A value as a table of this codec stores it. Throws a StoreError: `invalid` for what the codec
 * cannot carry, `too_large` above 512 KiB.
 */
export function encode(codec: EncodedValue['codec'], value: unknown): EncodedValue {
  return { codec, bytes: encodeValue(codec, value, NOWHERE).bytes };
}

/** The value that was encoded. Throws a StoreError `corrupt` if the bytes are not of this codec. */
export function decode({ codec, bytes }: EncodedValue): unknown {
  return decodeValue(codec, encodeValue('encoded', { codec, bytes }, NOWHERE), NOWHERE);
}

const NOWHERE = { table: '', key: '' };
