// What parsing a text of JSON would lose: a mark, digits of numbers, names that stand twice.

const MARK = [0xef, 0xbb, 0xbf];

/** The bytes behind a mark. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(MARK.length) : bytes;
}

/** The same text for all decimal numbers that are equal. Zero has no sign. */
export function decimalOf(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text)!;
  const digits = (whole + fraction).replace(/^0+/, '');
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  if (length === 0) return '0';
  return `${sign}${digits.slice(0, length)}e${Number(exponent) - fraction.length + digits.length - length}`;
}

/** A longer number is cut in a message. */
const LONG_NUMBER = /(?<=^.{40}).+/;

/**
 * Throws an Error about `what` if a number would be rounded or a name occurs twice in an object.
 * The JSON must not be too deep for recursion.
 */
export function checkExact(json: string, what: string): void {
  // An export has this form. Looking at each member takes several times as long.
  if (JSON.stringify(JSON.parse(json)) === json) return;
  // Begins at -1 because the reviver takes the whole value for a member too.
  let members = -1;
  JSON.parse(json, function (this: unknown, _: string, value: unknown, context?: { readonly source?: string }) {
    if (!Array.isArray(this)) members += 1;
    const source = context?.source;
    if (typeof value === 'number' && source !== undefined && !isExact(source, value))
      throw new Error(
        `${what} holds the number ${source.replace(LONG_NUMBER, '...')}, which would become ${value}: give it in quotes, as text`,
      );
    return value;
  });
  // Outside of strings each colon belongs to a member.
  const colons = json.replaceAll(/"(?:[^"\\]+|\\.)*"/g, '').split(':').length - 1;
  if (colons > members) throw new Error(`${what} holds an object with a name that stands twice: one would be lost`);
}

function isExact(source: string, value: number): boolean {
  return Number.isFinite(value) && decimalOf(source) === decimalOf(String(value));
}
