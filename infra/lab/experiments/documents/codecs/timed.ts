// A codec on one value as a variant: encode and decode timed apart, bytes counted, and checked that the value comes back.
import { isDeepStrictEqual } from 'node:util';
import type { Variant } from '../../rounds.ts';
import type { Codec, Dictionary } from './codecs.ts';
import { typicalMs } from './typical.ts';

/** Fills the columns `encode`, `decode`, `total` (milliseconds) and `bytes` of the row. Fails if the value does not come back the same. */
export function codecVariant(row: string, codec: Codec, value: Dictionary): Variant {
  return {
    row,
    columns: ['encode', 'decode', 'total', 'bytes'],
    run: () => {
      const bytes = codec.encode(value);
      if (!isDeepStrictEqual(codec.decode(bytes), value)) throw new Error('the value does not come back the same');
      const encode = typicalMs(() => codec.encode(value));
      const decode = typicalMs(() => codec.decode(bytes));
      return Promise.resolve({ encode, decode, total: encode + decode, bytes: bytes.length });
    },
  };
}
