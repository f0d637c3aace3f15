// A short text that two worlds share if no difference between them matters. Worlds share unchanged
// objects, so each object is spelled once and then stands as a number.
import { type Process, type World } from './world.ts';

export class PlaceKeys {
  readonly #byText = new Map<string, number>();
  readonly #byObject = new WeakMap<object, number>();

  /** `rest` is what matters beside the world. */
  keyOf(world: World, rest: readonly (object | number)[] = []): string {
    return [
      this.#leavesOf(world.leaves),
      this.#number(world.branch),
      ...world.late.map((message) => this.#number(message)),
      ...world.processes.map((process) => this.#process(process)),
      ...rest.map((one) => (typeof one === 'object' ? this.#number(one) : one)),
    ].join(' ');
  }

  #number(value: object, text?: () => string): number {
    const known = this.#byObject.get(value);
    if (known !== undefined) return known;
    const spelled = text?.() ?? JSON.stringify(value);
    const number = this.#byText.get(spelled) ?? this.#byText.size;
    this.#byText.set(spelled, number);
    this.#byObject.set(value, number);
    return number;
  }

  #leavesOf(leaves: World['leaves']): number {
    return this.#number(leaves, () => {
      const numbers = Object.values(leaves).map((leaf) => this.#number(leaf));
      return `leaves ${numbers.toSorted((a, b) => a - b).join(' ')}`;
    });
  }

  #process(process: Process): number {
    return this.#number(process, () => {
      const { memory, operation, replies } = process;
      const parts = [
        this.#leavesOf(memory.leaves),
        memory.branch === undefined ? '-' : this.#number(memory.branch),
        memory.drawn,
        JSON.stringify(operation),
        ...replies.map((reply) => (reply === undefined ? '-' : this.#number(reply))),
      ];
      return `process ${parts.join(' ')}`;
    });
  }
}
