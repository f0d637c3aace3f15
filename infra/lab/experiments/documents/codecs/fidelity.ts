// Whether a value comes back the same from a format: of the same type, and equal, -0 and repeated
// references told apart.
import { isDeepStrictEqual } from 'node:util';
import type { WordTable } from '../../../../../shared/lab/report/chapters/schema.ts';
import { type Codec, labelOf } from './codecs.ts';

const twice = { a: 1 };

const VALUES: readonly { readonly name: string; readonly value: unknown }[] = [
  { name: 'integer', value: 12_345 },
  { name: '2^53 - 1', value: Number.MAX_SAFE_INTEGER },
  { name: 'float', value: 0.1 },
  { name: '-0', value: -0 },
  { name: 'NaN', value: NaN },
  { name: 'bigint', value: 2n ** 62n },
  { name: 'null', value: null },
  { name: 'undefined', value: undefined },
  { name: 'text of digits', value: '007' },
  { name: 'date', value: new Date(Date.UTC(2008, 3, 7)) },
  { name: 'binary', value: Uint8Array.of(0, 128, 255) },
  { name: 'nested', value: { list: [1, { deep: 'x' }] } },
  { name: 'Map', value: new Map([['a', 1]]) },
  { name: 'repeated reference', value: [twice, twice] },
];

export function fidelityTable(codecs: readonly Codec[]): WordTable {
  return {
    title: 'Whether a value comes back the same',
    about:
      'Each value is encoded as the one entry of a dictionary, decoded, and compared. "same": equal and of the same type, a repeated reference still one object. Otherwise what came back instead. "refused": an error, which loses nothing. A phone lists what does not come back the same.',
    columns: VALUES.map(({ name }) => name),
    rows: codecs.map((codec) => ({ name: labelOf(codec), cells: VALUES.map(({ value }) => verdict(codec, value)) })),
  };
}

/** `same`, `refused`, `left out`, or what came back. */
export function verdict(codec: Codec, value: unknown): string {
  let bytes: Uint8Array;
  try {
    bytes = codec.encode({ value });
  } catch {
    return 'refused';
  }
  try {
    const decoded = codec.decode(bytes) as { value?: unknown };
    return Object.hasOwn(decoded, 'value') ? comparison(value, decoded.value) : 'left out';
  } catch {
    return 'written, cannot be read';
  }
}

function comparison(before: unknown, after: unknown): string {
  if (!isDeepStrictEqual(after, before)) return described(after);
  const isOne = !Array.isArray(before) || (after as unknown[])[0] === (after as unknown[])[1];
  return isOne ? 'same' : 'two objects';
}

function described(value: unknown): string {
  if (typeof value === 'string') return `"${value.slice(0, 24)}"`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return typeof value;
  const { constructor } = value as { constructor?: { name?: string } };
  const name = constructor?.name ?? 'object without a prototype';
  return `${/^[AEIOUaeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}
