// Looks at every entity the moment it was changed, and compares it with what it was: the invariants that hold for each single write,
// whoever wrote it. What it sees is counted too: which kinds of split, fence, repair and removal a run met.
import { type DecodedRecord, type Node, ROOT } from './decode.ts';
import type { Events } from './events.ts';
import { type Held, idOf, type Provider, tableOf } from './provider.ts';
import { structureFaults } from './structure.ts';
import { partName } from '../support/ids.ts';

const COMMIT_IDS_KEPT = 128;
const PURGE_AFTER_MS = 300_000;
const HOLD_MOST_MS = 1_000;
/** The first tell enough. */
const COMPLAINTS_MAX = 5;

export class Watch {
  readonly complaints: string[] = [];
  readonly #provider: Provider;
  readonly #events: Events;
  readonly #entityBytesMax: number;
  readonly #wallMs: () => number;
  readonly #known = new Map<string, Held>();
  readonly #removed = new Set<string>();
  readonly #touched = new Set<string>();
  readonly #cameAt = new Map<string, number>();
  /** Versions that a split was begun on. */
  readonly #bases = new Set<string>();
  readonly #removingSince = new Map<string, number>();
  #looks = 0;

  constructor(provider: Provider, events: Events, entityBytesMax: number, wallMs: () => number) {
    this.#wallMs = wallMs;
    this.#provider = provider;
    this.#events = events;
    this.#entityBytesMax = entityBytesMax;
  }

  /** These may have changed when `look` is called next. */
  readonly touch = (ids: readonly string[]): void => {
    for (const id of ids) this.#touched.add(id);
  };

  /** To be called after each request's effect. */
  readonly look = (): void => {
    if (this.#touched.size === 0) return;
    this.#looks += 1;
    const reshaped = new Set<string>();
    for (const id of this.#touched) if (this.#lookAt(id)) reshaped.add(tableOf(id));
    this.#touched.clear();
    for (const table of reshaped) {
      if (this.#provider.root(table)?.node.state === 'live')
        for (const fault of structureFaults(this.#provider, table, false)) this.#complain(fault);
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
      this.#complain(`${id}: ${String(error)}`);
      return false;
    }
  }

  #complain(what: string): void {
    if (this.complaints.length < COMPLAINTS_MAX) this.complaints.push(what);
    this.#events.tell('CHECK', what);
  }

  #expect(isTrue: boolean, id: string, what: string): void {
    if (!isTrue) this.#complain(`${id}: ${what}`);
  }

  #goes(held: Held): boolean {
    const { id, node } = held;
    this.#known.delete(id);
    this.#removed.add(id);
    this.#events.tell('provider', `${id} is gone`);
    this.#expect(node.container !== ROOT, id, 'a root was removed');
    this.#events.count(this.#isDoomed(held) ? 'a node of a dropped table was removed' : 'vacuum removed an orphan');
    return true;
  }

  #comes(now: Held): boolean {
    const { id, node } = now;
    this.#cameAt.set(id, this.#looks);
    if (this.#removed.has(id)) this.#events.count('a removed node came back by a late insert');
    this.#expect(node.state === 'live', id, 'was inserted as a tombstone');
    if (node.container === ROOT) {
      this.#expect(node.level === 0 && node.rows.length === 0, id, 'a new root is not an empty leaf');
      return true;
    }
    this.#expect(node.commitIds.length === 0, id, 'a new node has commit ids');
    this.#expect(node.holdForMs === 0 && node.parts.length === 0, id, 'a new node asks for a hold, or names parts');
    this.#expect(
      node.rows.every((row) => row.number < node.nextNumber),
      id,
      'a page number is not below the next number',
    );
    if (node.origin !== undefined) this.#bases.add(`${node.origin.id} ${node.origin.version}`);
    const origin = node.origin === undefined ? undefined : this.#known.get(node.origin.id);
    this.#expect(node.origin !== undefined, id, 'a new node names no origin');
    if (origin !== undefined && origin.stored.version === node.origin?.version) {
      this.#expect(node.nextNumber >= origin.node.nextNumber, id, 'a new node does not take on the next number');
      this.#expect(node.commitCount >= origin.node.commitCount, id, 'a new node does not take on the commit count');
    }
    return false;
  }

  #changes(before: Held, now: Held): boolean {
    const { id } = now;
    const [was, is] = [before.node, now.node];
    const kept = was.commitIds.slice(is.commitIds.length - 1 < was.commitIds.length ? -(COMMIT_IDS_KEPT - 1) : 0);
    this.#expect(
      is.commitCount === was.commitCount + 1,
      id,
      `the commit count went from ${was.commitCount} to ${is.commitCount}`,
    );
    this.#expect(is.commitIds.slice(0, -1).join() === kept.join(), id, 'the commit ids were not handed on');
    this.#expect(!was.commitIds.includes(is.commitIds.at(-1) ?? ''), id, 'the commit carries no id of its own');
    const last = Buffer.from(now.stored.parts.get(partName('c')) ?? []).toString('hex');
    this.#expect(last === is.commitIds.at(-1), id, 'the last commit id and its copy differ');
    this.#expect(is.nextNumber >= was.nextNumber, id, 'the next number went back');
    this.#expect(is.low.equals(was.low) && is.container === was.container, id, 'the low, or the identity, changed');
    if (was.incarnation !== is.incarnation || was.state !== is.state) return this.#turns(id, was, is);
    this.#checkNumbers(before, now);
    this.#checkCourtesies(before, now);
    if (is.level !== was.level || !sameBound(is.high, was.high)) return this.#splits(before, now);
    this.#expect(is.right === was.right, id, 'the right link changed without the high');
    this.#countPatch(before, now);
    return false;
  }

  /** What others go by: a short hold, and parts only of a split that this very commit, or one before, has linked. */
  #checkCourtesies({ node: was }: Held, { id, node: is }: Held): void {
    this.#expect(is.holdForMs <= HOLD_MOST_MS, id, `asks for a hold of ${is.holdForMs} ms`);
    if (is.holdForMs > 0) this.#events.count('commit that asks others to hold');
    const isSplit = is.level !== was.level || !sameBound(is.high, was.high);
    if (was.holdForMs > 0) this.#events.count(isSplit ? 'leaf split after a hold' : 'hold that no split followed');
    if (isSplit) {
      this.#expect(is.holdForMs === 0, id, 'asks for a hold after its split');
      this.#expect(is.parts[0]?.low.equals(is.high!) !== false, id, 'names parts that do not begin at its high');
      if (is.parts.length > 0) this.#events.count('split that names its parts');
      if (was.parts.length > 0 && is.parts.length > was.parts.length)
        this.#events.count('parts of an earlier split kept');
    } else {
      const isKept = is.parts.length === 0 || namesOf(is) === namesOf(was);
      this.#expect(isKept, id, 'names other parts without a split');
      if (was.parts.length > 0 && is.parts.length === 0) this.#events.count('parts of a split no longer named');
    }
  }

  /** Tombstones and recreation. */
  #turns(id: string, was: Node, is: Node): boolean {
    const turn = `${was.state} -> ${is.state}`;
    const isNew = was.incarnation !== is.incarnation;
    this.#expect(was.container === ROOT, id, `a node that is no root turned: ${turn}`);
    const isAllowed = isNew
      ? turn === 'removed -> live'
      : turn === 'live -> removing' || turn === 'removing -> removed';
    this.#expect(isAllowed, id, `turned ${turn}${isNew ? ' with another incarnation' : ''}`);
    this.#expect(is.rows.length === 0 && is.level === 0, id, `is not empty after ${turn}`);
    if (turn === 'live -> removing') this.#removingSince.set(is.incarnation, this.#looks);
    if (turn === 'removing -> removed')
      this.#expect(!this.#hasOldNodes(id, is.incarnation), id, 'was called removed with nodes left');
    this.#events.count(isNew ? 'table recreated' : `tombstone set to ${is.state}`);
    return true;
  }

  /** Nodes that were there when the drop began: what a late insert brings later, no listing can find. */
  #hasOldNodes(root: string, incarnation: string): boolean {
    const since = this.#removingSince.get(incarnation) ?? 0;
    const ids = this.#provider.nodeIds(tableOf(root)).filter((id) => id.split('!')[2] === incarnation);
    return ids.some((id) => (this.#cameAt.get(id) ?? 0) < since);
  }

  /** Rule 13 and invariant 3: whatever bytes or records are new bear numbers that are new. */
  #checkNumbers(before: Held, now: Held): void {
    const rows = new Map(before.node.rows.map((row) => [row.slot, row]));
    const records = new Map<string, DecodedRecord>();
    const fresh = now.node.rows.filter(
      (row) => rows.get(row.slot)?.crc !== row.crc || rows.get(row.slot)?.number !== row.number,
    );
    if (fresh.length === 0) return;
    for (const record of this.#provider.allRecords(before)) records.set(nameOf(record), record);
    this.#countPurges(this.#provider.records(before), now);
    for (const row of fresh) {
      const isFresh = row.number >= before.node.nextNumber && row.number < now.node.nextNumber;
      this.#expect(isFresh, now.id, `page ${row.slot} was written without a fresh number`);
      for (const record of this.#provider.page(now, row)) {
        const known = records.get(nameOf(record));
        if (known === undefined)
          this.#expect(
            record.version >= before.node.nextNumber,
            now.id,
            'a record was written without a fresh version',
          );
        else this.#expect(known.value.equals(record.value), now.id, 'a record changed under its version');
      }
    }
  }

  #countPurges(before: readonly DecodedRecord[], now: Held): void {
    const expiring = before.filter(({ expiresAtMs }) => expiresAtMs !== undefined);
    if (expiring.length === 0) return;
    const left = new Set(this.#provider.records(now).map(({ key }) => key.toString('latin1')));
    const purged = expiring.filter(
      ({ key, expiresAtMs }) => !left.has(key.toString('latin1')) && expiresAtMs! + PURGE_AFTER_MS < this.#wallMs(),
    );
    this.#events.count('expired record purged', purged.length);
  }

  /** Rules 8 and 9: what is linked is there, and was made for exactly this base. */
  #splits(before: Held, now: Held): boolean {
    const [was, is] = [before.node, now.node];
    const isRoot = is.container === ROOT;
    this.#expect(isRoot ? is.level === was.level + 1 : is.level === was.level, now.id, 'changed its level');
    this.#expect(isRoot || is.high !== undefined, now.id, 'gave up its high');
    if (was.high !== undefined && is.high !== undefined)
      this.#expect(is.high.compare(was.high) < 0, now.id, 'raised its high');
    const made: Held[] = [];
    const first = isRoot ? this.#provider.records(now)[0]?.value.toString('hex') : is.right;
    for (let next = first; next !== undefined && next !== was.right;) {
      const node = this.#provider.entity(idOf(tableOf(now.id), is.incarnation, next));
      if (node === undefined) {
        // A drop may have removed it: then all of them go.
        this.#expect(this.#isDoomed(now), now.id, 'linked a node that is not there');
        break;
      }
      made.push(node);
      const { origin } = node.node;
      this.#expect(
        origin?.id === now.id && origin.version === before.stored.version,
        now.id,
        'linked a node made for another base',
      );
      next = node.node.right;
    }
    this.#countSplit(before, made.length - (isRoot ? 1 : 0));
    this.#countHandedOn(before.node, is, made);
    return true;
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
    if (is.level > 0 && this.#provider.records(now).length > this.#provider.records(before).length)
      this.#events.count('parent repaired');
    if (was.commitIds.length === COMMIT_IDS_KEPT) this.#events.count('commit id fell out of the list');
  }
}

function nameOf({ key, version }: DecodedRecord): string {
  return `${version} ${key.toString('latin1')}`;
}

function namesOf({ parts }: Node): string {
  return parts.map(({ low, id }) => `${low.toString('hex')}/${id}`).join();
}

function pagesOf({ rows }: Node): string {
  return rows.map(({ slot, number, crc }) => `${slot}/${number}/${crc}`).join();
}

function sameBound(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}
