// The runtime's own text form of a value, as Python's repr and pprint are: made for people, and
// read back as source code.
import { inspect } from 'node:util';
import { runInThisContext } from 'node:vm';
import { type Codec, textOf } from '../codecs/codecs.ts';

const WHOLE = { depth: null, maxArrayLength: null, maxStringLength: null } as const;

/** In one line, like repr. */
export const INSPECT: Codec = {
  id: 'inspect',
  name: 'util.inspect',
  library: 'Node.js',
  encode: (value) => Buffer.from(inspect(value, { ...WHOLE, breakLength: Infinity, compact: true })),
  decode: evaluated,
};

/** Sorted, a line an entry, like pprint. */
export const INSPECT_LINES: Codec = {
  id: 'inspect-lines',
  name: 'util.inspect, sorted, in lines',
  library: 'Node.js',
  encode: (value) => Buffer.from(inspect(value, { ...WHOLE, breakLength: 80, compact: false, sorted: true })),
  decode: evaluated,
};

/** Runs what was written here a moment ago: never for bytes from elsewhere. */
function evaluated(bytes: Uint8Array): unknown {
  return runInThisContext(`(${textOf(bytes)})`) as unknown;
}
