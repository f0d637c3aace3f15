// Checks a value before it is encoded: it passes only if it comes back the same, and is refused otherwise, with the place in it and
// what to do instead. A getter counts as the value it gives, an object without a prototype as one with the usual.

/** Arrays, objects, Maps and Sets within each other that a value may have, at most: shallow enough for every recursive reader. */
export const VALUE_DEPTH_MAX = 100;

export type CheckedCodec = 'msgpack' | 'json';

/** Keys may be long, and levels many. */
const PATH_CHARS_MAX = 200;

/** What msgpackr can count in an object as it is set up here. */
const MSGPACKR_KEYS_MAX = 0xffff;

/** Why a value cannot be carried, and where in it that stands: `value.items[3].when`. */
export class Refusal extends TypeError {
  readonly path: string;

  constructor(place: Inside | undefined, cause: unknown) {
    super(cause instanceof Error ? cause.message : 'it threw', { cause });
    this.path = pathOf(place).slice(0, PATH_CHARS_MAX);
  }
}

/**
 * Whether the codec's library writes the value as it is; false if it holds a Map, a Set, -0 or an object of very many keys. Throws a Refusal for
 * what would not come back the same.
 */
export function isPlainlyCarried(value: unknown, codec: CheckedCodec): boolean {
  const visitor = new Visitor(codec);
  try {
    if (value === undefined) throw new TypeError('undefined is no value: delete the record, or put null');
    visitor.visit(value);
  } catch (cause) {
    throw new Refusal(visitor.place, cause);
  }
  return visitor.isPlain;
}

const BINARY: ReadonlySet<unknown> = new Set(
  [
    Buffer,
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
  ].map(({ prototype }) => prototype as unknown),
);

/** The objects that a value lies in, the innermost first: most lie in one, for which an array would be large. */
interface Inside {
  readonly object: object;
  readonly depth: number;
  readonly above: Inside | undefined;
  /** Which part of `object` is looked at: a property, an index; in a Map twice the index, and one more for the value. */
  at: string | number;
}

class Visitor {
  readonly #isJson: boolean;
  isPlain = true;
  /** Of what is looked at; undefined for the value itself. */
  place: Inside | undefined;

  constructor(codec: CheckedCodec) {
    this.#isJson = codec === 'json';
  }

  visit(value: unknown): void {
    switch (typeof value) {
      case 'boolean':
        return;
      case 'string':
        return this.#checkText(value);
      case 'number':
        return this.#checkNumber(value);
      case 'object':
        if (value !== null) this.#visitObject(value);
        return;
      case 'undefined':
        if (this.#isJson) throw new TypeError('JSON has no undefined: leave the property out, or put null');
        return;
      case 'bigint':
        if (this.#isJson) throw new TypeError('JSON has no bigint: put its text');
        return;
      case 'function':
      case 'symbol':
        throw new TypeError(`a ${typeof value} cannot be stored: leave it out`);
    }
  }

  /** MessagePack is UTF-8, in which lone surrogates are all the same; JSON escapes them. */
  #checkText(value: string): void {
    if (!this.#isJson && !value.isWellFormed())
      throw new TypeError('a string holds a lone surrogate: mend it with toWellFormed()');
  }

  #checkNumber(value: number): void {
    if (value === 0 && Object.is(value, -0)) this.isPlain = false;
    if (this.#isJson && !Number.isFinite(value)) throw new TypeError(`JSON has no ${value}: put null, or its text`);
  }

  #visitObject(value: object): void {
    const prototype: unknown = Object.getPrototypeOf(value);
    const inside = entered(value, this.place);
    if (prototype === Object.prototype || prototype === null) this.#visitProperties(value, inside);
    else if (prototype === Array.prototype && Array.isArray(value)) this.#visitItems(value, inside);
    else if (value instanceof Promise) throw new TypeError('a promise cannot be stored: await it');
    else if (this.#isJson) throw new TypeError(`JSON would not give back ${named(value)}: put what it holds`);
    else this.#visitBuiltIn(value, prototype, inside);
    this.place = inside.above;
  }

  #visitProperties(value: object, inside: Inside): void {
    const keys = Object.keys(value);
    if (countOwn(value) !== keys.length)
      throw new TypeError('symbols as keys, and properties that are not enumerable, would be lost: leave them out');
    if (keys.length > MSGPACKR_KEYS_MAX) this.isPlain = false;
    this.place = inside;
    for (const key of keys) {
      inside.at = key;
      this.#checkText(key);
      this.visit((value as Record<string, unknown>)[key]);
    }
  }

  #visitItems(value: readonly unknown[], inside: Inside): void {
    // Its keys are its indexes and nothing else, and `length` is the one that is not enumerable.
    const keys = Object.keys(value);
    const isWhole = keys.length === value.length && (keys.length === 0 || keys.at(-1) === `${value.length - 1}`);
    if (!isWhole || countOwn(value) !== keys.length + 1)
      throw new TypeError(
        'an array with holes, or with properties of its own, would come back without: fill, or copy it',
      );
    this.place = inside;
    for (let index = 0; index < value.length; index += 1) {
      inside.at = index;
      this.visit(value[index]);
    }
  }

  #visitBuiltIn(value: object, prototype: unknown, inside: Inside): void {
    if (prototype === Map.prototype) {
      assertBare(value);
      this.#visitMembers([...(value as Map<unknown, unknown>)].flat(), inside);
    } else if (prototype === Set.prototype) {
      assertBare(value);
      this.#visitMembers([...(value as Set<unknown>)], inside);
      // oxlint-disable-next-line no-restricted-globals -- takes no time from it
    } else if (prototype === Date.prototype) {
      assertBare(value);
      if (Number.isNaN((value as Date).getTime())) throw new TypeError('an invalid Date cannot be stored: put null');
    } else if (prototype === ArrayBuffer.prototype) {
      assertBare(value);
      if ((value as ArrayBuffer).resizable)
        throw new TypeError('a resizable ArrayBuffer cannot be stored: put a slice');
    } else if (prototype === DataView.prototype) assertBare(value);
    else if (!BINARY.has(prototype))
      throw new TypeError(`${named(value)} would not come back as one: put what it holds`);
  }

  #visitMembers(members: readonly unknown[], inside: Inside): void {
    this.isPlain = false;
    this.place = inside;
    for (const [index, member] of members.entries()) {
      inside.at = index;
      this.visit(member);
    }
  }
}

function entered(object: object, above: Inside | undefined): Inside {
  for (let outer = above; outer !== undefined; outer = outer.above) {
    if (outer.object === object) throw new TypeError('the value contains itself: cut the cycle');
  }
  const depth = above === undefined ? 1 : above.depth + 1;
  if (depth > VALUE_DEPTH_MAX)
    throw new TypeError(`it is nested deeper than ${VALUE_DEPTH_MAX} levels: make it flatter`);
  return { object, depth, above, at: 0 };
}

/** As one would write it in JavaScript. */
function pathOf(place: Inside | undefined): string {
  if (place === undefined) return 'value';
  const { object, at, above } = place;
  const outer = pathOf(above);
  if (typeof at === 'string') return outer + (/^[a-z_$][\w$]*$/i.test(at) ? `.${at}` : `[${JSON.stringify(at)}]`);
  if (object instanceof Map) return `[...${outer}][${Math.floor(at / 2)}][${at % 2}]`;
  return object instanceof Set ? `[...${outer}][${at}]` : `${outer}[${at}]`;
}

/** As `Reflect.ownKeys`, in a third of the time. */
function countOwn(value: object): number {
  return Object.getOwnPropertyNames(value).length + Object.getOwnPropertySymbols(value).length;
}

/** Properties that someone added to a built-in object would be lost. */
function assertBare(value: object): void {
  if (countOwn(value) > 0)
    throw new TypeError(`the properties added to ${named(value)} would be lost: put them beside it`);
}

function named(value: object): string {
  const { constructor }: { constructor?: unknown } = value;
  return `an instance of ${typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'a class'}`;
}
