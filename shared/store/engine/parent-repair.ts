// Corrects the entries of parent branches in the background (rules 11 and 29). No call depends on
// it.
import { type Change, entryChange } from '../container/change.ts';
import { asBuffer, id64 } from '../format/bytes.ts';
import { noteEvent } from '../system/tracing.ts';
import type { EntryRepair } from '../machine/leaf.ts';

/** The most repairs under way. Further ones are dropped, as the next search finds them again. */
const REPAIRS_MAX = 256;

export class ParentRepair {
  readonly #underWay = new Set<string>();

  /** The change that corrects an entry; undefined if it is under way already, or too many are. */
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
