// Tells a parent branch of a child, in the background (rules 11 and 29). Nothing depends on it.
import { type Change, entryChange } from '../container/change.ts';
import { asBuffer, id64 } from '../format/bytes.ts';
import { noteEvent } from '../system/tracing.ts';
import type { EntryRepair } from '../machine/leaf.ts';

/** Repairs under way at most; further ones are dropped, to be found again by the next walk. */
const REPAIRS_MAX = 256;

export class ParentRepair {
  readonly #underWay = new Set<string>();

  /** A change of the entry; undefined if one of it is under way, or too many are. */
  begin({ level, incarnation, separator, child, instead }: EntryRepair, begunTick: number): Change | undefined {
    const name = `${incarnation}/${level}/${Buffer.from(separator).toString('base64')}/${instead ?? ''}`;
    if (this.#underWay.has(name) || this.#underWay.size >= REPAIRS_MAX) return undefined;
    this.#underWay.add(name);
    noteEvent('repairs', undefined);
    const value = Buffer.from(child, 'hex');
    return entryChange({
      separator,
      level,
      begunTick,
      action: (current, found) => {
        const named = current && id64(asBuffer(current.value));
        if (named !== instead || found !== incarnation) return { kind: 'none' };
        return { kind: 'write', codec: 0, value, expiresAtMs: undefined };
      },
      sink: { settled: () => this.#underWay.delete(name) },
      index: 0,
    });
  }
}
