// The places that a comparison ran in, each once.
import type { Place } from '../load/place.ts';

export class Places {
  readonly all: Place[] = [];
  readonly #indexes = new Map<string, number>();

  /** The place's index among all. */
  indexOf(place: Place): number {
    const name = JSON.stringify(place);
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    this.#indexes.set(name, this.all.length);
    return this.all.push(place) - 1;
  }
}
