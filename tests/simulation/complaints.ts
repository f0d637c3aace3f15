// The faults that a run has found, in words.
import type { Events } from './events.ts';

/** A run that is wrong often complains without end, and the first complaints suffice. */
const COMPLAINTS_MAX = 5;

export class Complaints {
  readonly all: string[] = [];
  readonly #events: Events;

  constructor(events: Events) {
    this.#events = events;
  }

  complain(what: string): void {
    if (this.all.length < COMPLAINTS_MAX && !this.all.includes(what)) this.all.push(what);
    this.#events.tell('CHECK', what.split('\n')[0] ?? '');
  }

  /** Gives a function that complains of the entity `id` unless what it is told is true. */
  about(id: string): (isTrue: boolean, what: string) => void {
    return (isTrue, what) => {
      if (!isTrue) this.complain(`${id}: ${what}`);
    };
  }
}
