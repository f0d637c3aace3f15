// Seeded chance. Each use has its own source: leaving one out changes no other draw.
import { seededRandom } from '../../shared/lab/kit/random.ts';

export class Chance {
  readonly #draw: () => number;

  constructor(...name: readonly number[]) {
    let seed = 0x9e3779b9;
    for (const part of name) seed = Math.imul(seed ^ (part + 0x7f4a7c15), 0x85ebca6b) ^ (seed >>> 13);
    this.#draw = seededRandom(seed);
  }

  /** In [0, 1). */
  share(): number {
    return this.#draw();
  }

  /** A whole number from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.#draw() * count);
  }

  is(probability: number): boolean {
    return this.#draw() < probability;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** One of the names, each as likely as its weight says. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.#draw() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    return (entries.find(([, weight]) => (left -= weight) < 0) ?? entries.at(-1)!)[0];
  }
}
