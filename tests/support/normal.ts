// Chance that is normally distributed, for times as networks have them.

/** Drawn from the standard normal distribution (Box and Muller). */
export function normal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}
