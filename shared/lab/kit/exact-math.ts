// The same last bit on every machine. Math.log differs by V8 build, `**` by C library.

/** ln 2 as a sum: LN2_HIGH times an exponent is exact (Cody and Waite, 1980). */
const LN2_HIGH = 0x162e42fee / 2 ** 33;
const LN2_LOW = 1.908_214_929_270_587_7e-10;
/** |s| is at most 0.172 and r at most 0.347: what these leave out is below the last bit. */
const LN_TERMS = 11;
const EXP_TERMS = 16;

const view = new DataView(new ArrayBuffer(8));

/** Within two units in the last place. Throws a RangeError unless positive, finite and normal. */
export function ln(x: number): number {
  if (!(x >= 2.2250738585072014e-308 && x < Infinity)) throw new RangeError(`ln takes positive numbers: ${x}`);
  view.setFloat64(0, x);
  let exponent = ((view.getUint16(0) >>> 4) & 0x7ff) - 1_022;
  // The same digits with the exponent of a number in [0.5, 1).
  view.setUint16(0, (view.getUint16(0) & 0x800f) | (1_022 << 4));
  let mantissa = view.getFloat64(0);
  if (mantissa < Math.SQRT1_2) {
    mantissa *= 2;
    exponent -= 1;
  }
  // ln m = 2 artanh s.
  const s = (mantissa - 1) / (mantissa + 1);
  const square = s * s;
  let sum = 0;
  for (let term = LN_TERMS; term >= 0; term -= 1) sum = sum * square + 1 / (2 * term + 1);
  return exponent * LN2_HIGH + (exponent * LN2_LOW + 2 * s * sum);
}

/** e to the power of x, to within two units in the last place; 0 below -708, Infinity above 709. */
export function exp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > 709) return Infinity;
  if (x < -708) return 0;
  const exponent = Math.round(x / Math.LN2);
  const r = x - exponent * LN2_HIGH - exponent * LN2_LOW;
  let sum = 1;
  for (let term = EXP_TERMS; term >= 1; term -= 1) sum = 1 + (sum * r) / term;
  // Two steps, as 2^1023 is the largest power.
  const half = exponent >> 1;
  return sum * powerOfTwo(half) * powerOfTwo(exponent - half);
}

export function power(base: number, exponent: number): number {
  return exp(exponent * ln(base));
}

function powerOfTwo(exponent: number): number {
  view.setUint32(0, (exponent + 1_023) << 20);
  view.setUint32(4, 0);
  return view.getFloat64(0);
}
