// Counts events, so that no danger goes unmet, and keeps the faults that a run has found, in words.
// A traced run hashes every line, for its replay.

export class Events {
  readonly counts = new Map<string, number>();
  /** Undefined in a run that is not traced. */
  readonly lines: string[] | undefined;
  readonly #nowMs: () => number;
  #hash = 0;

  constructor(isTraced: boolean, nowMs: () => number) {
    this.lines = isTraced ? [] : undefined;
    this.#nowMs = nowMs;
  }

  /** A hash of all lines with their times; 0 in a run that is not traced. */
  get hash(): number {
    return this.#hash >>> 0;
  }

  count(name: string, by = 1): void {
    if (by > 0) this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  tell(who: string, what: string): void {
    if (this.lines === undefined) return;
    const line = `${this.#nowMs().toFixed(3)} ${who} ${what}`;
    for (let at = 0; at < line.length; at += 1) this.#hash = (Math.imul(this.#hash, 31) + line.charCodeAt(at)) | 0;
    this.lines.push(line);
  }
}

export function addCounts(to: Map<string, number>, from: Iterable<readonly [string, number]>): void {
  for (const [name, count] of from) to.set(name, (to.get(name) ?? 0) + count);
}

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
