// The stored shape of a table: positions, entries and records lie where a search looks for them.
import { crc32 } from 'node:zlib';
import type { DecodedRecord, Node, Row } from './decode.ts';
import { type Held, idOf, positionOf, type Provider, tableOf } from './provider.ts';

interface Level {
  readonly level: number;
  readonly nodes: readonly Held[];
}

/** Levels of a live table, root first, along their right links. Throws at a link to nothing. */
export function levelsOf(provider: Provider, table: string): Level[] {
  const root = provider.root(table);
  if (root === undefined) throw new RangeError(`table ${table} has no root`);
  const { incarnation } = root.node;
  const linked = (container: string, from: Held): Held => {
    const held = provider.entity(idOf(table, incarnation, container));
    if (held === undefined) throw new RangeError(`${from.id} leads to ${container}, which is missing`);
    return held;
  };
  const levels: Level[] = [];
  for (let leftmost = root; ;) {
    const nodes = [leftmost];
    for (let at = leftmost; at.node.right !== undefined; nodes.push(at)) at = linked(at.node.right, at);
    levels.push({ level: leftmost.node.level, nodes });
    if (leftmost.node.level === 0) return levels;
    const first = provider.records(leftmost)[0];
    if (first === undefined) throw new RangeError(`the branch ${leftmost.id} is empty`);
    leftmost = linked(first.value.toString('hex'), leftmost);
  }
}

/** A run's memory of former states. */
export interface Past {
  /** Ids of nodes that were ever linked. */
  readonly linked: Set<string>;
  /** The low of each leaf that ever retired, by its id. */
  readonly retired: Map<string, Buffer>;
}

/** Faults of a live table's shape; `isDeep`: within pages too. Adds linked nodes to `past`. */
export function structureFaults(
  provider: Provider,
  table: string,
  isDeep: boolean,
  past: Past = { linked: new Set(), retired: new Map() },
): string[] {
  try {
    const levels = levelsOf(provider, table);
    const incarnation = levels[0]!.nodes[0]!.node.incarnation;
    return levels.flatMap(({ level, nodes }, index) => [
      ...levelFaults(nodes, level, incarnation),
      ...lostFaults(provider, nodes, past),
      ...partFaults(nodes, past),
      ...childFaults(provider, nodes, levels[index + 1]?.nodes ?? [], past),
      ...(isDeep ? nodes.flatMap((held) => pageFaults(provider, held)) : []),
    ]);
  } catch (error) {
    return [`table ${table}: ${String(error)}`];
  }
}

/** Ids of nodes of any incarnation that no link leads to. */
export function orphansOf(provider: Provider, table: string): string[] {
  const linked = new Set(levelsOf(provider, table).flatMap(({ nodes }) => nodes.map(({ id }) => id)));
  return provider.nodeIds(table).filter((id) => !linked.has(id));
}

function levelFaults(nodes: readonly Held[], level: number, incarnation: string): string[] {
  const faults: string[] = [];
  let end: Buffer | undefined = Buffer.alloc(0);
  for (const { id, node } of nodes) {
    const { low, high, right } = node;
    if (node.level !== level || node.incarnation !== incarnation || !isLinkable(node))
      faults.push(`${id} is linked on level ${level}, and is ${node.state}, of level ${node.level}`);
    if (end === undefined || !low.equals(end)) faults.push(`${id} does not begin where its left neighbour ends`);
    if ((high === undefined) !== (right === undefined)) faults.push(`${id} has only one of high and right`);
    if (high !== undefined && low.compare(high) >= 0) faults.push(`${id} owns nothing`);
    const at = level > 0 || node.groupBy === undefined ? -1 : low.indexOf(node.groupBy);
    if (at >= 0 && at < low.length - 1) faults.push(`${id} begins within a group`);
    if (node.commitIds.length > 128) faults.push(`${id} keeps too many ids of commits`);
    end = high;
  }
  if (end !== undefined) faults.push(`level ${level} ends too early`);
  return faults;
}

/** A retired leaf stays linked until its left neighbour absorbs it. The leftmost never retires. */
function isLinkable({ state, level, low }: Node): boolean {
  return state === 'live' || (state === 'retired' && level === 0 && low.length > 0);
}

/** A live node that was ever linked is linked (invariant 2). */
function lostFaults(provider: Provider, nodes: readonly Held[], { linked }: Past): string[] {
  const here = new Set(nodes.map(({ id }) => id));
  for (const id of here) linked.add(id);
  const [first] = nodes;
  if (first === undefined) return [];
  const { incarnation, level } = first.node;
  return provider.nodeIds(tableOf(first.id)).flatMap((id) => {
    if (!linked.has(id) || here.has(id)) return [];
    const node = provider.entity(id)?.node;
    const isLost = node?.state === 'live' && node.level === level && node.incarnation === incarnation;
    return isLost ? [`${id} lives, was linked once, and is no more`] : [];
  });
}

/** Searches follow a node's parts without a look at a branch, so parts must be right. */
function partFaults(nodes: readonly Held[], { retired }: Past): string[] {
  const linked = new Map(nodes.map(({ node }) => [node.container, node]));
  return nodes.flatMap(({ id, node }) =>
    node.parts.flatMap((part) => {
      const there = linked.get(part.id)?.low ?? retired.get(idOf(tableOf(id), node.incarnation, part.id));
      if (there === undefined) return [`${id} names a part that is not linked on its level`];
      return there.equals(part.low) ? [] : [`${id} names a part under another low`];
    }),
  );
}

/** Rule 29: an entry names the node that begins at its separator, or after merges left of it. */
function childFaults(
  provider: Provider,
  branches: readonly Held[],
  below: readonly Held[],
  { retired }: Past,
): string[] {
  const children = new Map(below.map((held) => [held.node.container, held.node]));
  return branches.flatMap((branch) => {
    if (branch.node.level === 0) return [];
    const entries = provider.records(branch);
    const faults = entries[0]?.key.equals(branch.node.low) === true ? [] : [`${branch.id} has no child for its low`];
    for (const { key, value } of entries) {
      const container = value.toString('hex');
      const low =
        children.get(container)?.low ?? retired.get(idOf(tableOf(branch.id), branch.node.incarnation, container));
      const mayBeginLeft = branch.node.level === 1 && retired.size > 0;
      if (low === undefined) faults.push(`${branch.id} names a node that is not linked below`);
      else if (mayBeginLeft ? low.compare(key) > 0 : !low.equals(key))
        faults.push(
          `${branch.id} names ${container} under another low: ${key.toString('hex')}, not ${low.toString('hex')}`,
        );
    }
    return faults;
  });
}

function pageFaults(provider: Provider, held: Held): string[] {
  const { id, node } = held;
  const slots = [...node.deadSlots, ...node.rows.map(({ slot }) => slot)];
  const faults = node.layers.flatMap((rows, layer) => layerFaults(provider, held, rows, layer === 0));
  if (new Set(slots).size < slots.length) faults.push(`${id}: a slot is used twice, or dead and used`);
  for (const [name, { byteLength }] of held.stored.parts)
    if (byteLength > 0 && name.startsWith('p') && !node.rows.some(({ slot }) => name === `p${slot}`))
      faults.push(`${id}: the slot ${name} holds bytes of no page`);
  if (node.level > 0 && node.layers.length > 1) faults.push(`${id}: a branch has layers`);
  return faults;
}

function layerFaults(provider: Provider, held: Held, rows: readonly Row[], isBase: boolean): string[] {
  const { id, node } = held;
  const faults: string[] = [];
  let before: Buffer | undefined;
  for (const [index, row] of rows.entries()) {
    if (isBase && row.fingerprints !== undefined) faults.push(`${id}: page ${row.slot} of the base has fingerprints`);
    if (index === 0 && !row.low.equals(node.low)) faults.push(`${id}: the first page does not begin at the low`);
    if (row.number >= node.nextNumber) faults.push(`${id}: page number ${row.number} is not below the next number`);
    if (row.records === 0) faults.push(`${id}: page ${row.slot} holds nothing`);
    const end = rows[index + 1]?.low ?? node.high;
    for (const record of provider.page(held, row)) {
      const at = positionOf(node.order, node.level, record.key);
      if (at.compare(row.low) < 0 || (end !== undefined && at.compare(end) >= 0))
        faults.push(`${id}: a record lies outside its page ${row.slot}`);
      if (before !== undefined && before.compare(at) >= 0) faults.push(`${id}: records are out of order`);
      if (record.version >= node.nextNumber) faults.push(`${id}: a version is not below the next number`);
      if (row.isAllLive && (record.isTombstone || record.expiresAtMs !== undefined))
        faults.push(`${id}: page ${row.slot} says that all its records live`);
      if (row.fingerprints?.includes(node.order === 'hash' ? at[7]! : crc32(record.key) % 256) === false)
        faults.push(`${id}: page ${row.slot} hides a record`);
      if (isBase && record.isTombstone) faults.push(`${id}: a tombstone lies in the base`);
      before = at;
    }
  }
  return faults;
}

/** All records of a live table, leaf by leaf, each named by its key and its version. */
export function storedRecords(provider: Provider, table: string): { readonly record: DecodedRecord; name: string }[] {
  const leaves = levelsOf(provider, table).at(-1)!.nodes;
  return leaves.flatMap((held) =>
    provider.records(held).map((record) => {
      const name = `${record.key.toString()} ${held.node.incarnation}-${record.version.toString(36)}`;
      return { record, name };
    }),
  );
}
