// Short ASCII texts, made by one call: joining pieces would allocate each of them.

/** Longer texts are faster by Buffer's own decoder, which takes 70 ns to call. */
export const SHORT_TEXT_BYTES = 12;

const textFrom = String.fromCharCode;

/** The text of up to SHORT_TEXT_BYTES of ASCII; undefined for other bytes. */
export function shortText(bytes: Buffer, start: number, end: number): string | undefined {
  const length = end - start;
  let bits = 0;
  for (let at = start; at < end; at += 1) bits |= bytes[at]!;
  if (bits > 0x7f) return undefined;
  return length < 5 ? upToFour(bytes, start, length) : upToTwelve(bytes, start, length);
}

function upToFour(bytes: Buffer, at: number, length: number): string {
  if (length === 0) return '';
  if (length === 1) return textFrom(bytes[at]!);
  if (length === 2) return textFrom(bytes[at]!, bytes[at + 1]!);
  if (length === 3) return textFrom(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!);
  return textFrom(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!);
}

function upToTwelve(bytes: Buffer, at: number, length: number): string {
  const [a, b, c, d, e] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!, bytes[at + 4]!];
  if (length === 5) return textFrom(a, b, c, d, e);
  if (length === 6) return textFrom(a, b, c, d, e, bytes[at + 5]!);
  if (length === 7) return textFrom(a, b, c, d, e, bytes[at + 5]!, bytes[at + 6]!);
  const [f, g, h] = [bytes[at + 5]!, bytes[at + 6]!, bytes[at + 7]!];
  if (length === 8) return textFrom(a, b, c, d, e, f, g, h);
  if (length === 9) return textFrom(a, b, c, d, e, f, g, h, bytes[at + 8]!);
  if (length === 10) return textFrom(a, b, c, d, e, f, g, h, bytes[at + 8]!, bytes[at + 9]!);
  const [i, j, k] = [bytes[at + 8]!, bytes[at + 9]!, bytes[at + 10]!];
  return length === 11
    ? textFrom(a, b, c, d, e, f, g, h, i, j, k)
    : textFrom(a, b, c, d, e, f, g, h, i, j, k, bytes[at + 11]!);
}
