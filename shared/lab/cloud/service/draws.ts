// Chance at a modelled service, from one seed.
import { exp, ln } from '../../kit/exact-math.ts';
import { type Random, seededRandom } from '../../kit/random.ts';

export class Draws {
  readonly #random: Random;
  /** Gaussians come in pairs; the second of the last pair. */
  #spare: number | undefined;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** In [0, 1). */
  uniform(): number {
    return this.#random();
  }

  /** The logarithm is normal, with `sigma`. The mean is median * exp(sigma^2 / 2). */
  lognormal(median: number, sigma: number): number {
    return sigma === 0 || median === 0 ? median : median * exp(sigma * this.#gaussian());
  }

  /** Marsaglia's polar method (Marsaglia and Bray, 1964): it needs no sine. */
  #gaussian(): number {
    if (this.#spare !== undefined) {
      const spare = this.#spare;
      this.#spare = undefined;
      return spare;
    }
    for (;;) {
      const x = 2 * this.#random() - 1;
      const y = 2 * this.#random() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * ln(square)) / square);
      this.#spare = y * scale;
      return x * scale;
    }
  }
}
