// Watches merges (rules 26, 27 and 30): which leaves retired, who absorbed them, and what remains.
import type { Node } from './decode.ts';
import type { Complaints, Events } from './events.ts';
import { type Held, positionOf, type Provider, tableOf } from './provider.ts';
import { pagesOf, sameBound } from './reshape.ts';
import type { Past } from './structure.ts';

/** A merged leaf's header stays for a day. Two clocks may be 5 minutes off each. */
const STRIPPED_KEPT_MS = 24 * 3_600_000 - 2 * 300_000;

export class MergeWatch {
  readonly past: Past = { linked: new Set(), retired: new Map() };
  /** Copies of retired leaves. */
  readonly copies = new Set<string>();
  readonly #provider: Provider;
  readonly #events: Events;
  readonly #complaints: Complaints;
  readonly #wallMs: () => number;
  /** Retired leaves that links lead to, with the time since when. */
  readonly #retired = new Map<string, number>();
  /** Leaves that others absorbed. */
  readonly #absorbed = new Set<string>();

  constructor(provider: Provider, events: Events, complaints: Complaints, wallMs: () => number) {
    this.#provider = provider;
    this.#events = events;
    this.#complaints = complaints;
    this.#wallMs = wallMs;
  }

  /** Since when the key's leaf is retired, in the simulation's wall time; undefined if it lives. */
  retiredSinceMs(table: string, key: string): number | undefined {
    for (const [id, sinceMs] of this.#retired) {
      const node = tableOf(id) === table ? this.#provider.entity(id)?.node : undefined;
      if (node === undefined) continue;
      const at = positionOf(node.order, 0, Buffer.from(key));
      if (at.compare(node.low) >= 0 && (node.high === undefined || at.compare(node.high) < 0)) return sinceMs;
    }
    return undefined;
  }

  /** A node was removed. */
  goes(id: string): void {
    this.#retired.delete(id);
  }

  /** Vacuum removed the header of a merged leaf. */
  leaves({ id, node }: Held): void {
    const expect = this.#complaints.about(id);
    const isOld = this.#wallMs() - node.createdAtMs > STRIPPED_KEPT_MS;
    expect(isOld, 'what is left of a merged leaf was removed too soon');
    this.#events.count('what is left of a merged leaf removed a day later');
  }

  /** Rules 26 and 30: a leaf retires with no other change, and is emptied once absorbed. */
  retires(before: Held, now: Held): boolean {
    const { id } = now;
    const [was, is] = [before.node, now.node];
    const expect = this.#complaints.about(id);
    const turn = `${was.state} -> ${is.state}`;
    const isAllowed = turn === 'live -> retired' || turn === 'retired -> merged';
    expect(isAllowed && was.incarnation === is.incarnation, `turned ${turn}`);
    expect(was.level === 0 && was.low.length > 0, 'retired, and is the leftmost, or no leaf');
    expect(sameBound(is.high, was.high) && is.right === was.right, `changed its bounds: ${turn}`);
    expect(is.nextNumber === was.nextNumber && is.freezeMs === 0, `changed more than its state: ${turn}`);
    if (is.state === 'merged') this.#isEmptied(now);
    else {
      const isKept = pagesOf(is) === pagesOf(was) && rowsOf(is) === rowsOf(was);
      expect(isKept, 'changed its content as it retired');
      expect(this.past.linked.has(id) && !this.past.retired.has(id), 'retired, and nothing links it');
      const isNextTo = (other: string): boolean => {
        const node = this.#provider.entity(other)?.node;
        return node?.container === is.right || node?.right === is.container;
      };
      if ([...this.#retired.keys()].some(isNextTo)) this.#events.count('leaf retired beside a retired one');
      this.#retired.set(id, this.#wallMs());
      this.past.retired.set(id, is.low);
      this.#events.count('leaf retired');
    }
    return true;
  }

  #isEmptied({ id, node, stored }: Held): void {
    const expect = this.#complaints.about(id);
    expect(this.#absorbed.has(id), 'was emptied although nobody had absorbed it');
    const isEmpty = node.rows.length === 0 && node.deadSlots.length === 0 && node.parts.length === 0;
    const hasBytes = [...stored.parts].some(([name, { byteLength }]) => name.startsWith('p') && byteLength > 0);
    expect(isEmpty && !hasBytes, 'is not empty although it is merged');
    this.#events.count('absorbed leaf emptied');
  }

  /** Rule 27. */
  absorbs(before: Held, now: Held, absorbed: Held, copy: Held | undefined): void {
    this.#absorbed.add(absorbed.id);
    this.#retired.delete(absorbed.id);
    const isAlone = pagesOf(now.node) === pagesOf(before.node);
    this.#complaints.about(now.id)(before.node.level === 0, 'a branch absorbed its neighbour');
    if (copy !== undefined) this.#events.count(isAlone ? 'copy linked' : 'copy linked beside changes');
    else {
      const records = new Set(
        [before, absorbed].flatMap((held) => this.#provider.records(held)).map(({ name }) => name),
      );
      const hasFresh = this.#provider.records(now).some(({ name }) => !records.has(name));
      this.#events.count(hasFresh ? 'retired leaf absorbed beside changes' : 'retired leaf absorbed');
      if (absorbed.node.rows.length > 0) this.#events.count('records moved by a merge');
      if (absorbed.node.layers.length > 1 || before.node.layers.length > 1)
        this.#events.count('layers joined by a merge');
    }
  }
}

function rowsOf({ layers }: Node): string {
  return layers.map((rows) => rows.length).join();
}
