// What chance decides at a modelled service, from one seed.
import { type Random, seededRandom } from '../../compare/data/random.ts';

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

  /** Lognormal: the logarithm is normal around that of the median, with standard deviation `sigma`. The mean is median * exp(sigma^2 / 2). */
  lognormal(median: number, sigma: number): number {
    return sigma === 0 || median === 0 ? median : median * Math.exp(sigma * this.#gaussian());
  }

  /** Box and Muller, "A note on the generation of random normal deviates", 1958. */
  #gaussian(): number {
    if (this.#spare !== undefined) {
      const spare = this.#spare;
      this.#spare = undefined;
      return spare;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.#random()));
    const angle = 2 * Math.PI * this.#random();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
}
