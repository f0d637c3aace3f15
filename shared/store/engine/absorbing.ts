// Taking a retired right neighbour in (rule 27): the base of the commit by which a leaf owns its
// content. Whoever meets such a pair may finish it: the condition lets one of them do so.
import { copyOf, fitsTogether, joinedSnapshot, relinkedSnapshot } from '../container/absorb.ts';
import { isWhole, type Snapshot } from '../container/snapshot.ts';
import type { Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { beforeBound } from '../format/position.ts';
import { drawAttempt, drawId } from '../io/clock.ts';
import type { EngineCore } from './core.ts';
import { insertNodes } from './insert-nodes.ts';

/** Leaves below this share together become one. A split leaves more: the two never alternate. */
export const MERGE_SHARE = 0.6;

/** After so many tries the pair is left to whoever meets it next. */
const ABSORB_TRIES_MAX = 16;

export interface AbsorbBase {
  /** The leaf as the provider has it, whole. */
  readonly left: Snapshot;
  /** The leaf with the neighbour's content, or a link to its copy, and no changes yet. */
  readonly joined: Snapshot;
  /** Whether the provider has none of the pages that came in: all of the leaf is sent. */
  readonly mustReplace: boolean;
}

export class Absorbing {
  readonly #core: EngineCore;
  /** As it was met. */
  readonly retired: Snapshot;
  #right: Snapshot | undefined;
  /** The neighbour's copy: any version of the leaf may link it that links the neighbour. */
  #copy: { readonly header: Header; readonly attempt: Id64 } | undefined;
  #isCopyThere = false;
  #tries = 0;
  #left: Snapshot | undefined;
  /** How often in a row it was not certain that the copy is there. */
  unsureInARow = 0;

  constructor(retired: Snapshot, core: EngineCore) {
    this.#core = core;
    this.retired = retired;
    if (isWhole(retired.header)) this.#right = retired;
  }

  /** The left neighbour as `baseOn` saw it last; undefined if it was missing. */
  get left(): Snapshot | undefined {
    return this.#left;
  }

  /**
   * The base (rule 27). Undefined if nothing is left to absorb, or it was tried too often and need
   * not go on; `unsure` if a copy may be missing: to be tried again after a pause. Cost: a read of
   * each leaf not known whole, and at times the insert of a copy.
   */
  async baseOn(known: Snapshot, mustGoOn: boolean): Promise<AbsorbBase | 'unsure' | undefined> {
    const { reader, rules } = this.#core;
    this.#tries += 1;
    this.#left = known;
    if ((this.#tries > ABSORB_TRIES_MAX && !mustGoOn) || !this.#isPair(known)) return undefined;
    const left = isWhole(known.header) ? known : await reader.readIntact(known.id);
    this.#left = left;
    if (left === undefined || !this.#isPair(left)) return undefined;
    // A repair that makes the neighbour anew moves the left leaf to another version before that.
    const isOlder = this.#right === undefined || this.#right.seen.tick < left.seen.tick;
    const right = isOlder ? await reader.readIntact(this.retired.id) : this.#right;
    this.#right = right;
    if (right?.header.state !== 'retired') return undefined;
    if (fitsTogether(left, right, MERGE_SHARE, rules))
      return { left, joined: joinedSnapshot(left, right, rules), mustReplace: true };
    const copy = await this.#copied(right);
    return copy === undefined ? 'unsure' : { left, joined: relinkedSnapshot(left, copy), mustReplace: false };
  }

  #isPair({ header }: Snapshot): boolean {
    return header.state === 'live' && header.right === this.retired.header.container;
  }

  /** The copy's id; undefined if it may not be there: then the same one is sent again. */
  async #copied(right: Snapshot): Promise<Id64 | undefined> {
    this.#copy ??= this.#drawCopy(right);
    const { header, attempt } = this.#copy;
    this.#isCopyThere ||= (await insertNodes(this.#core, [header], attempt)) !== undefined;
    this.unsureInARow = this.#isCopyThere ? 0 : this.unsureInARow + 1;
    return this.#isCopyThere ? header.container : undefined;
  }

  #drawCopy(right: Snapshot): { header: Header; attempt: Id64 } {
    const { rules, runtime } = this.#core;
    const attempt = drawAttempt(this.#core);
    const container = drawId(runtime);
    return { header: copyOf(right, { attempt, container, nowMs: runtime.wallMs() }, rules), attempt };
  }

  /** Has the entry of the neighbour name the live leaf that owns its positions now. */
  mendParent(): void {
    const { container: instead, low: separator, incarnation } = this.retired.header;
    const header = this.#left?.header;
    if (header?.state !== 'live' || header.right === instead) return;
    const child = beforeBound(separator, header.high) ? header.container : header.right;
    if (child !== undefined) this.#core.repair({ level: 1, incarnation, separator, child, instead });
  }
}
