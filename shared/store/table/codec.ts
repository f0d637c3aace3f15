// Values in their stored form, for callers that move records.
import type { EncodedValue } from '../contract/options.ts';
import { decodeValue, encodeValue } from './values.ts';

/** Throws a StoreError: `invalid` if the codec cannot carry it, `too_large` above 512 KiB. */
export function encode(codec: EncodedValue['codec'], value: unknown): EncodedValue {
  return { codec, bytes: encodeValue(codec, value, NOWHERE).bytes };
}

/** The value that was encoded. Throws a StoreError `corrupt` if the bytes are not of this codec. */
export function decode({ codec, bytes }: EncodedValue): unknown {
  return decodeValue(codec, encodeValue('encoded', { codec, bytes }, NOWHERE), NOWHERE);
}

const NOWHERE = { table: '', key: '' };
