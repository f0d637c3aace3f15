// Tells a parent branch of a child, in the background (rules 11 and 29). Nothing depends on it.
import { type Change, entryChange } from '../container/change.ts';
import { asBuffer, id64 } from '../format/bytes.ts';
import { noteEvent } from '../system/tracing.ts';
import type { Clock } from '../io/clock.ts';
import type { EntryRepair } from '../machine/leaf.ts';

/** Repairs under way at most; further ones are dropped, to be found again by the next walk. */
const REPAIRS_MAX = 256;

export class ParentRepair {
  readonly #clock: Clock;
  readonly #send: (change: Change) => void;
  readonly #underWay = new Set<string>();

  constructor(clock: Clock, send: (change: Change) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Once for each entry at a time; dropped at the first trouble. */
  repair({ level, incarnation, separator, child, instead }: EntryRepair): void {
    const name = `${incarnation}/${level}/${Buffer.from(separator).toString('base64')}/${instead ?? ''}`;
    if (this.#underWay.has(name) || this.#underWay.size >= REPAIRS_MAX) return;
    this.#underWay.add(name);
    const value = Buffer.from(child, 'hex');
    const change = entryChange({
      separator,
      level,
      begunTick: this.#clock.now().tick,
      action: (current, found) => {
        const named = current && id64(asBuffer(current.value));
        if (named !== instead || found !== incarnation) return { kind: 'none' };
        return { kind: 'write', codec: 0, value, expiresAtMs: undefined };
      },
      sink: { settled: () => this.#underWay.delete(name) },
      index: 0,
    });
    noteEvent('repairs', undefined);
    this.#send(change);
  }
}
