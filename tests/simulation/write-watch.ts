// Compares every entity with its former state at each change: invariants of a single write.
import { type DecodedRecord, type Node, ROOT } from './decode.ts';
import { Complaints, type Events } from './events.ts';
import { MergeWatch } from './merge-watch.ts';
import { type Held, type Provider, tableOf } from './provider.ts';
import { contentFault, NO_RESHAPE, pagesOf, type Reshape, reshapeOf, sameBound } from './reshape.ts';
import { structureFaults } from './structure.ts';
import { partName } from '../support/ids.ts';

const COMMIT_IDS_KEPT = 128;
const PURGE_AFTER_MS = 300_000;
const HOLD_MOST_MS = 1_000;
/** The id of a batch's put: the batch, the put's place, and its number of puts. */
const BATCH_PART = /(b\d+)\.\d+of(\d+)/;
/** A process's clock is at most 290 s ahead, and jumps by some 4 s. */
const CLOCKS_APART_MS = 300_000;

export class Watch {
  readonly merges: MergeWatch;
  readonly #complaints: Complaints;
  readonly #provider: Provider;
  readonly #events: Events;
  readonly #entityBytesMax: number;
  readonly #wallMs: () => number;
  readonly #known = new Map<string, Held>();
  readonly #removed = new Set<string>();
  readonly #touched = new Set<string>();
  readonly #cameAt = new Map<string, number>();
  /** Versions that a split started from. */
  readonly #bases = new Set<string>();
  readonly #removingSince = new Map<string, number>();
  #looks = 0;

  constructor(provider: Provider, events: Events, entityBytesMax: number, wallMs: () => number) {
    this.#wallMs = wallMs;
    this.#provider = provider;
    this.#events = events;
    this.#entityBytesMax = entityBytesMax;
    this.#complaints = new Complaints(events);
    this.merges = new MergeWatch(provider, events, this.#complaints, wallMs);
  }

  get complaints(): readonly string[] {
    return this.#complaints.all;
  }

  /** Entities that may have changed by the next `look`. */
  readonly touch = (ids: readonly string[]): void => {
    for (const id of ids) this.#touched.add(id);
  };

  /** Call it after each request's effect. */
  readonly look = (): void => {
    if (this.#touched.size === 0) return;
    this.#looks += 1;
    const reshaped = new Set<string>();
    for (const id of this.#touched) if (this.#lookAt(id)) reshaped.add(tableOf(id));
    this.#touched.clear();
    for (const table of reshaped) {
      if (this.#provider.root(table)?.node.state === 'live')
        for (const fault of structureFaults(this.#provider, table, false, this.merges.past))
          this.#complaints.complain(fault);
    }
  };

  /** True if links may have changed. */
  #lookAt(id: string): boolean {
    const before = this.#known.get(id);
    try {
      const now = this.#provider.entity(id);
      if (now?.stored === before?.stored) return false;
      if (now === undefined) return this.#goes(before!);
      this.#known.set(id, now);
      this.#events.tell(
        'provider',
        `${id} is now ${now.stored.version}: commit ${now.node.commitCount}, ${now.node.state}, level ${now.node.level}, pages ${now.node.rows.length}`,
      );
      return before === undefined ? this.#comes(now) : this.#changes(before, now);
    } catch (error) {
      this.#complaints.complain(`${id}: ${String(error)}`);
      return false;
    }
  }

  #goes(held: Held): boolean {
    const { id, node } = held;
    const expect = this.#complaints.about(id);
    this.#known.delete(id);
    this.#removed.add(id);
    this.#events.tell('provider', `${id} is gone`);
    expect(node.container !== ROOT, 'a root was removed');
    this.merges.goes(id);
    if (this.#isDoomed(held)) this.#events.count('a node of a dropped table was removed');
    else if (node.state === 'merged') this.merges.leaves(held);
    else {
      expect(node.state === 'live', `was removed although it is ${node.state}`);
      expect(!this.merges.past.linked.has(id), 'was removed although links led to it');
      this.#events.count('vacuum removed an orphan');
      if (this.merges.copies.has(id)) this.#events.count('copy that nobody linked removed');
    }
    return true;
  }

  #comes(now: Held): boolean {
    const { id, node } = now;
    const expect = this.#complaints.about(id);
    this.#cameAt.set(id, this.#looks);
    if (this.#removed.has(id)) this.#events.count('a removed node came back by a late insert');
    expect(node.state === 'live', 'was inserted as a tombstone');
    if (node.container === ROOT) {
      expect(node.level === 0 && node.rows.length === 0, 'a new root is not an empty leaf');
      return true;
    }
    expect(node.commitIds.length === 0, 'a new node has commit ids');
    expect(node.freezeMs === 0 && node.parts.length === 0, 'a new node asks for a hold, or names parts');
    expect(
      node.rows.every((row) => row.number < node.nextNumber),
      'a page number is not below the next number',
    );
    if (node.origin !== undefined) this.#bases.add(`${node.origin.id} ${node.origin.version}`);
    const origin = node.origin === undefined ? undefined : this.#known.get(node.origin.id);
    expect(node.origin !== undefined, 'a new node names no origin');
    if (origin?.node.state === 'retired') this.merges.copies.add(id);
    if (origin !== undefined && origin.stored.version === node.origin?.version) {
      expect(node.nextNumber >= origin.node.nextNumber, 'a new node does not take on the next number');
      expect(node.commitCount >= origin.node.commitCount, 'a new node does not take on the commit count');
    }
    return false;
  }

  #changes(before: Held, now: Held): boolean {
    const { id } = now;
    const [was, is] = [before.node, now.node];
    const expect = this.#complaints.about(id);
    const kept = was.commitIds.slice(is.commitIds.length - 1 < was.commitIds.length ? -(COMMIT_IDS_KEPT - 1) : 0);
    expect(
      is.commitCount === was.commitCount + 1,
      `the commit count went from ${was.commitCount} to ${is.commitCount}`,
    );
    expect(is.commitIds.slice(0, -1).join() === kept.join(), 'the commit ids were not handed on');
    expect(!was.commitIds.includes(is.commitIds.at(-1) ?? ''), 'the commit carries no id of its own');
    const last = Buffer.from(now.stored.parts.get(partName('c')) ?? []).toString('hex');
    expect(last === is.commitIds.at(-1), 'the last commit id and its copy differ');
    expect(is.nextNumber >= was.nextNumber, 'the next number went back');
    expect(is.low.equals(was.low) && is.container === was.container, 'the low, or the identity, changed');
    if (was.state === 'retired' || is.state === 'retired') return this.merges.retires(before, now);
    expect(was.state !== 'merged', 'what is left of a merged leaf was written');
    if (was.incarnation !== is.incarnation || was.state !== is.state) return this.#turns(id, was, is);
    const isReshaped = is.level !== was.level || is.right !== was.right || !sameBound(is.high, was.high);
    const reshape = isReshaped ? reshapeOf(this.#provider, before, now) : NO_RESHAPE;
    // A drop may have removed the absorbed or new nodes: nothing is left to compare.
    if (reshape.fault === undefined || !this.#isDoomed(now)) {
      this.#checkNumbers(before, now, reshape);
      this.#checkContent(before, now, reshape);
      this.#checkBatches(before, now, reshape);
      this.#checkCourtesies(before, now, reshape);
    }
    if (isReshaped) return this.#reshapes(before, now, reshape);
    this.#countPatch(before, now);
    return is.level > 0 && this.merges.past.retired.size > 0;
  }

  /** Courtesies: a hold is short, and parts come only from a split that is linked. */
  #checkCourtesies({ node: was }: Held, { id, node: is }: Held, { made, absorbed }: Reshape): void {
    const expect = this.#complaints.about(id);
    expect(is.freezeMs <= HOLD_MOST_MS, `asks for a hold of ${is.freezeMs} ms`);
    if (is.freezeMs > 0) this.#events.count('commit that asks others to hold');
    const isSplit = made.length > 0;
    if (was.freezeMs > 0) this.#events.count(isSplit ? 'leaf split after a hold' : 'hold that no split followed');
    if (isSplit) {
      expect(is.freezeMs === 0, 'asks for a hold after its split');
      expect(is.parts[0]?.low.equals(is.high!) !== false, 'names parts that do not begin at its high');
      if (is.parts.length > 0) this.#events.count('split that names its parts');
    } else {
      // A part may be the neighbour that was absorbed.
      const isKept = is.parts.length === 0 || (namesOf(is) === namesOf(was) && absorbed === undefined);
      expect(isKept, 'names other parts without a split');
      if (was.parts.length > 0 && is.parts.length === 0) this.#events.count('parts of a split no longer named');
    }
  }

  /** Tombstones, and tables created anew. */
  #turns(id: string, was: Node, is: Node): boolean {
    const expect = this.#complaints.about(id);
    const turn = `${was.state} -> ${is.state}`;
    const isNew = was.incarnation !== is.incarnation;
    expect(was.container === ROOT, `a node that is no root turned: ${turn}`);
    const isAllowed = isNew
      ? turn === 'removed -> live'
      : turn === 'live -> removing' || turn === 'removing -> removed';
    expect(isAllowed, `turned ${turn}${isNew ? ' with another incarnation' : ''}`);
    expect(is.rows.length === 0 && is.level === 0, `is not empty after ${turn}`);
    if (turn === 'live -> removing') this.#removingSince.set(is.incarnation, this.#looks);
    if (turn === 'removing -> removed')
      expect(!this.#hasOldNodes(id, is.incarnation), 'was called removed with nodes left');
    this.#events.count(isNew ? 'table recreated' : `tombstone set to ${is.state}`);
    return true;
  }

  /** Nodes older than the drop. No listing can find a node that a late insert brings afterwards. */
  #hasOldNodes(root: string, incarnation: string): boolean {
    const since = this.#removingSince.get(incarnation) ?? 0;
    const ids = this.#provider.nodeIds(tableOf(root)).filter((id) => id.split('!')[2] === incarnation);
    return ids.some((id) => (this.#cameAt.get(id) ?? 0) < since);
  }

  /** Rule 13 and invariant 3: new bytes and new records have fresh numbers. */
  #checkNumbers(before: Held, now: Held, { absorbed, copy }: Reshape): void {
    const rows = new Map(before.node.rows.map((row) => [row.slot, row]));
    const records = new Map<string, DecodedRecord>();
    const fresh = now.node.rows.filter(
      (row) => rows.get(row.slot)?.crc !== row.crc || rows.get(row.slot)?.number !== row.number,
    );
    if (fresh.length === 0) return;
    const expect = this.#complaints.about(now.id);
    const sources = sourcesOf(before, absorbed, copy);
    const firstNumber = Math.max(...sources.map(({ node }) => node.nextNumber));
    for (const held of sources) for (const record of this.#provider.allRecords(held)) records.set(record.name, record);
    this.#countPurges(this.#provider.records(before), now);
    for (const row of fresh) {
      const isFresh = row.number >= firstNumber && row.number < now.node.nextNumber;
      expect(isFresh, `page ${row.slot} was written without a fresh number`);
      for (const record of this.#provider.page(now, row)) {
        const known = records.get(record.name);
        if (known === undefined) expect(record.version >= firstNumber, 'a record was written without a fresh version');
        else expect(known.value.equals(record.value), 'a record changed under its version');
      }
    }
  }

  #countPurges(before: readonly DecodedRecord[], now: Held): void {
    const expiring = before.filter(({ expiresAtMs }) => expiresAtMs !== undefined);
    if (expiring.length === 0) return;
    const left = new Set(this.#provider.records(now).map(({ keyText }) => keyText));
    const purged = expiring.filter(
      ({ keyText, expiresAtMs }) => !left.has(keyText) && expiresAtMs! + PURGE_AFTER_MS < this.#wallMs(),
    );
    this.#events.count('expired record purged', purged.length);
  }

  /** Rules 8 and 9: linked nodes exist, and were made for this base. */
  #reshapes(before: Held, now: Held, { made, absorbed, copy, fault }: Reshape): boolean {
    const [was, is] = [before.node, now.node];
    const isRoot = is.container === ROOT;
    const expect = this.#complaints.about(now.id);
    expect(isRoot ? is.level === was.level + 1 : is.level === was.level, 'changed its level');
    // A drop may have removed the linked node. All nodes of the table go then.
    if (fault !== undefined) expect(this.#isDoomed(now), fault);
    if (absorbed !== undefined) this.merges.absorbs(before, now, absorbed, copy);
    if (made.length === 0) return true;
    this.#countSplit(before, made.length - (isRoot ? 1 : 0));
    this.#countHandedOn(before.node, is, made);
    return true;
  }

  /** No record is lost or comes back, whether it stays, moves by a split, or by a merge. */
  #checkContent(before: Held, now: Held, { made, absorbed, copy, fault }: Reshape): void {
    if (before.node.level > 0 || fault !== undefined) return;
    const after = now.node.level > 0 ? made : [now, ...made];
    const expiredMs = this.#wallMs() + CLOCKS_APART_MS;
    const wrong = contentFault(this.#provider, sourcesOf(before, absorbed, copy), after, expiredMs);
    if (wrong !== undefined) this.#complaints.complain(`${now.id}: ${wrong}`);
  }

  /** Rule 34: all puts of a batch come into one leaf, by one commit. */
  #checkBatches(before: Held, now: Held, { made, absorbed }: Reshape): void {
    if (before.node.level > 0 || before.node.groupBy === undefined) return;
    const known = new Set(
      sourcesOf(before, absorbed)
        .flatMap((held) => this.#provider.records(held))
        .map(({ name }) => name),
    );
    for (const held of now.node.level > 0 ? made : [now, ...made]) {
      const fresh = this.#provider.records(held).filter(({ name }) => !known.has(name));
      const batches = fresh.flatMap(({ value }) => batchOf(value.toString('latin1')) ?? []);
      for (const { name, puts } of batches) {
        const { length } = batches.filter((other) => other.name === name);
        this.#complaints.about(held.id)(length === puts, `has ${length} of ${puts} puts of the batch ${name}`);
        this.#events.count('put of a batch');
      }
    }
  }

  #isDoomed({ id, node }: Held): boolean {
    const root = this.#provider.root(tableOf(id))?.node;
    return root?.state !== 'live' || root.incarnation !== node.incarnation;
  }

  #countSplit(before: Held, rightNodes: number): void {
    const { node, stored } = before;
    const kind = node.level === 0 ? 'leaf' : 'branch';
    this.#events.count(node.container === ROOT ? `root ${kind} grew` : `${kind} split`);
    if (rightNodes > 1) this.#events.count('split into more than two nodes');
    if (node.rows.length === 0) this.#events.count('empty root split beforehand');
    let bytes = 0;
    for (const part of stored.parts.values()) bytes += part.byteLength;
    if (node.level === 0 && node.rows.length > 0 && bytes < this.#entityBytesMax * 0.35)
      this.#events.count('small leaf split under pressure');
  }

  #countHandedOn(was: Node, is: Node, made: readonly Held[]): void {
    const numbers = new Map(was.rows.map(({ slot, number }) => [slot, number]));
    if (made.some(({ node }) => node.layers.length > 1)) this.#events.count('layers handed on by a split');
    if (is.rows.some(({ slot, number }) => numbers.get(slot) === number))
      this.#events.count('page that stayed at a split');
    if (is.deadSlots.length > was.deadSlots.length) this.#events.count('split by a patch');
  }

  #countPatch(before: Held, now: Held): void {
    const [was, is] = [before.node, now.node];
    if (pagesOf(was) === pagesOf(is)) {
      this.#events.count('commit of an id alone');
      if (this.#bases.has(`${before.id} ${before.stored.version}`)) this.#events.count('vacuum fenced an origin');
    }
    if (is.rows.some(({ compression }) => compression !== 0)) this.#events.count('page compressed');
    if (is.layers.length > was.layers.length) this.#events.count('layer laid above a base');
    if (is.layers.length < was.layers.length) this.#events.count('layers merged');
    if (was.deadSlots.length > 0 && is.deadSlots.length === 0) this.#events.count('dead slots shed by a replace');
    if (is.level > 0) this.#countEntries(this.#provider.records(before), this.#provider.records(now));
  }

  #countEntries(before: readonly DecodedRecord[], now: readonly DecodedRecord[]): void {
    if (now.length > before.length) this.#events.count('parent repaired');
    const children = new Map(now.map(({ keyText, value }) => [keyText, value]));
    for (const { keyText, value } of before) {
      const child = children.get(keyText);
      if (child === undefined) this.#events.count('entry dropped');
      else if (!child.equals(value)) this.#events.count('entry overridden');
    }
  }
}

/** Nodes whose records a commit takes on: those of a leaf that has a copy stay there. */
function sourcesOf(before: Held, absorbed: Held | undefined, copy?: Held): Held[] {
  return absorbed === undefined || copy !== undefined ? [before] : [before, absorbed];
}

function namesOf({ parts }: Node): string {
  return parts.map(({ low, id }) => `${low.toString('hex')}/${id}`).join();
}

function batchOf(value: string): { readonly name: string; readonly puts: number } | undefined {
  const [, name, puts] = BATCH_PART.exec(value) ?? [];
  return name === undefined ? undefined : { name, puts: Number(puts) };
}
