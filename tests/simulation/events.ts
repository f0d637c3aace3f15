// What happened in a run: how often each kind of thing (so that a run that never meets a danger is noticed), and on demand every line of it, and
// a hash of them (so that a replay that differs is noticed).

export class Events {
  readonly counts = new Map<string, number>();
  /** Undefined: nobody reads them. */
  readonly lines: string[] | undefined;
  readonly #nowMs: () => number;
  #hash = 0;

  constructor(isTraced: boolean, nowMs: () => number) {
    this.lines = isTraced ? [] : undefined;
    this.#nowMs = nowMs;
  }

  /** Of all that was told, and when; 0 where nobody reads the lines. */
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
