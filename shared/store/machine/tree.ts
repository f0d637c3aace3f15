// The next step of a search: down through branches, to the right by links and hints, or from the
// root; and to the left for the content of a leaf that is no longer live (rule 28).
import { childBelow, childFor, locate, pageToChild, type RoutingEntry, splitPartFor } from '../container/branch.ts';
import { isKnown, type Snapshot } from '../container/snapshot.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/entity-ids.ts';
import { beforeBound, type Position } from '../format/position.ts';
import { count } from '../system/tracing.ts';
import {
  afterAstray,
  afterMiss,
  branchInMemory,
  childInMemory,
  entryPhase,
  type FoundLeft,
  goTo,
  type LeftSearch,
  liveRoot,
  look,
  type Look,
  type Memory,
  miss,
  type Node,
  owns,
  type Phase,
  type PhaseOf,
  restart,
  ROOT,
  type Search,
  type TreeStep,
} from './search.ts';
import type { EntityId } from '../contract/driver.ts';

/** If a node names the nodes of its split, its parent is read again only when older than this. */
const PARENT_AGE_MS = 1_000;

/** The next look, or the end. Answer a look by `shown` before you ask again. */
export function nextTreeStep(search: Search, memory: Memory): TreeStep {
  try {
    for (;;) {
      const step = proceed(search, search.phase, memory);
      search.reply = undefined;
      if (step !== undefined) return step;
    }
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** Undefined: the search has moved to another phase. */
function proceed(search: Search, phase: Phase, memory: Memory): TreeStep | undefined {
  switch (phase.kind) {
    case 'root':
      return atRoot(search, phase, memory);
    case 'node':
      return atNode(search, phase.at, memory);
    case 'page':
      return atPage(search, phase, memory);
    case 'right':
      return goRight(search, phase.overtaken, memory);
    case 'missing':
      return lookAfterMiss(search, phase, memory);
    case 'left':
      return goLeft(search, phase, memory);
    case 'entry':
      return atEntry(search, phase, memory);
    case 'start':
      return atStart(search, phase, memory);
    case 'links':
      return alongLinks(search, phase, memory);
    case 'again':
      return lookAgain(search, phase, memory);
    case 'owner':
      return atOwner(search, phase.found, memory);
    default:
      return phase satisfies never;
  }
}

function atRoot(search: Search, { isAnew, forgets }: PhaseOf<'root'>, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  const id = rootId(memory.table);
  const known = reply === undefined && !isAnew ? memory.get(id) : reply?.node;
  if (reply === undefined && known?.header.state !== 'live') return { kind: 'look', id, what: 'whole', forgets };
  return fromRoot(search, liveRoot(known, memory), memory);
}

/** The root owns every position; its level tells whether the search ends there. */
function fromRoot(search: Search, root: Snapshot, memory: Memory): TreeStep | undefined {
  const { level: sought, until } = search;
  const { id, header } = root;
  if (until === 'root') return { kind: 'found', node: root };
  if (header.level < sought) throw new RangeError(`the tree has no level ${sought}`);
  if (header.level > sought) return down(search, root, memory);
  search.phase = { kind: 'node', at: { id, incarnation: header.incarnation, level: sought, end: undefined } };
  return undefined;
}

/** Goes to the child that a branch names for the position. */
function down(search: Search, branch: Snapshot, { table }: Memory): undefined {
  if (search.reply === undefined && pageToChild(branch, search.position)?.content.isKnown !== true) {
    search.phase = { kind: 'page', branch, isAll: false, overtaken: undefined };
    return;
  }
  const { child, end } = childFor(branch, search.position, table);
  const { incarnation, level } = branch.header;
  goTo(search, { id: nodeId(table, incarnation, child), incarnation, level: level - 1, end });
}

function atNode(search: Search, at: Node, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  const isSought = at.level === search.level;
  if (isSought && search.until === 'named') return { kind: 'named', id: at.id, end: at.end };
  const known = reply === undefined && !isSought ? memory.get(at.id) : reply?.node;
  if (reply === undefined && known === undefined) return look(at.id, isSought ? 'sought' : 'whole');
  return met(search, at, known, memory);
}

/** Also reads the branch's other unknown pages, because other positions will need them soon. */
function atPage(search: Search, { branch, isAll, overtaken }: PhaseOf<'page'>, memory: Memory): TreeStep | undefined {
  const { id, header } = branch;
  const { position, reply } = search;
  const ref = pageToChild(branch, position);
  if (reply === undefined) {
    const slots = header.pages.filter((page) => page === ref || !isKnown(page)).map(({ slot }) => slot);
    const what = isAll || ref === undefined ? 'whole' : slots;
    return { kind: 'look', id, what, mayFail: overtaken !== undefined };
  }
  const { node } = reply;
  // The page has moved to another slot.
  if (node !== undefined && !isAll && !hasPage(node, position)) {
    search.phase = { kind: 'page', branch, isAll: true, overtaken };
    return undefined;
  }
  if (overtaken !== undefined) return byHints(search, overtaken, node, memory);
  if (id === rootId(memory.table)) return fromRoot(search, liveRoot(node, memory), memory);
  const { incarnation, level } = header;
  return met(search, { id, incarnation, level, end: header.high }, node, memory);
}

/** Whether the branch has the page for `position`, or does not own it and needs none. */
function hasPage(branch: Snapshot, position: Position): boolean {
  return !owns(branch, position) || pageToChild(branch, position)?.content.isKnown === true;
}

/** Goes on from a node that was seen in memory or by a read. */
function met(search: Search, at: Node, node: Snapshot | undefined, memory: Memory): TreeStep | undefined {
  const { id, incarnation, level } = at;
  const isRoot = id === rootId(memory.table);
  const found = node === undefined ? 'gone' : locate(node.header, search.position, level);
  if (node !== undefined && found === 'here') {
    if (level === search.level) return { kind: 'found', node };
    return down(search, node, memory);
  }
  if (node !== undefined && found === 'right') search.phase = { kind: 'right', overtaken: node };
  else if (found === 'gone' && level === 0 && !isRoot) search.phase = { kind: 'left', id, incarnation, gone: node };
  else {
    restart(search, id, memory);
    if (node === undefined) miss(search, id, incarnation, ROOT);
    else search.phase = afterAstray(node, level, memory.table);
  }
  return undefined;
}

function lookAfterMiss(
  search: Search,
  { id, incarnation, isDamage, next }: PhaseOf<'missing'>,
  { table }: Memory,
): TreeStep | undefined {
  const { reply } = search;
  if (reply === undefined) return { kind: 'look', id: rootId(table), what: 'whole', forgets: incarnation };
  const header = reply.node?.header;
  const where = { table, container: id };
  if (header === undefined)
    throw new StoreError('corrupt', 'the root of a table that has containers is missing', where);
  if (header.state !== 'live') throw tableNotFound(table);
  if (isDamage && header.incarnation === incarnation)
    throw new StoreError('corrupt', 'a container that the table links to does not exist', where);
  search.phase = next;
  return undefined;
}

/**
 * Goes right: to the child that the parent names, else to the node that the last split names, else
 * to the right neighbour. It takes one read at most. A node that was passed before is followed by
 * its link alone (rule 12).
 */
function goRight(search: Search, overtaken: Snapshot, memory: Memory): TreeStep | undefined {
  const { position, passedLows } = search;
  const { header, seen } = overtaken;
  const { incarnation, level, low } = header;
  count(memory, 'rightWalks');
  const before = passedLows[level];
  if (before !== undefined && compareBytes(low, before) <= 0) return toNeighbour(search, overtaken, memory);
  passedLows[level] = low;
  const parent = branchInMemory(memory, position, level + 1);
  if (parent?.header.incarnation !== incarnation) return byHints(search, overtaken, undefined, memory);
  const isNamed = splitPartFor(header, position) !== undefined;
  const isOld = isNamed ? memory.ageMs(parent.seen) > PARENT_AGE_MS : parent.seen.tick < seen.tick;
  if (!isOld) return byHints(search, overtaken, parent, memory);
  search.phase = { kind: 'page', branch: parent, isAll: false, overtaken };
  return undefined;
}

/** Goes right by what a parent, from memory or just read, and the last split name. */
function byHints(search: Search, overtaken: Snapshot, parent: Snapshot | undefined, memory: Memory): undefined {
  const { position, entryRepairs } = search;
  const { header } = overtaken;
  const { container, incarnation, level, low, high, right } = header;
  const entry = parent && childInMemory(parent, position, memory);
  if (entry !== undefined && compareBytes(entry.low, low) > 0) {
    const known = memory.get(nodeId(memory.table, incarnation, entry.child));
    const isAstray = entry.child === container || (known !== undefined && compareBytes(known.header.low, low) <= 0);
    if (!isAstray) return toSibling(search, overtaken, entry.child, memory);
    const owner = compareBytes(high!, entry.low) <= 0 ? right! : container;
    if (owner !== entry.child)
      entryRepairs.push({ level: level + 1, incarnation, separator: entry.low, child: owner, instead: entry.child });
  }
  const part = splitPartFor(header, position);
  if (part === undefined) return toNeighbour(search, overtaken, memory);
  const wasReadSince = parent !== undefined && search.reply !== undefined;
  if (wasReadSince)
    entryRepairs.push({
      level: level + 1,
      incarnation,
      separator: part.low,
      child: part.container,
      instead: undefined,
    });
  return toSibling(search, overtaken, part.container, memory);
}

/** Goes to the right neighbour, and tells the parent of it. */
function toNeighbour(search: Search, overtaken: Snapshot, memory: Memory): undefined {
  const { incarnation, level, high, right } = overtaken.header;
  search.entryRepairs.push({ level: level + 1, incarnation, separator: high!, child: right!, instead: undefined });
  return toSibling(search, overtaken, right!, memory);
}

/** The node's end is not known, so the name holds for this position alone. */
function toSibling(search: Search, { header }: Snapshot, container: Id64, { table }: Memory): undefined {
  const { incarnation, level } = header;
  return goTo(search, { id: nodeId(table, incarnation, container), incarnation, level, end: search.position });
}

/** After so many looks, leaves merge faster than the search can follow them. */
const LOOKS_MAX = 400;

function lookLeft(search: Search, id: EntityId, what: Look, { table }: Memory): TreeStep {
  search.leftLooks += 1;
  if (search.leftLooks <= LOOKS_MAX) return look(id, what);
  const message = 'containers merge faster than the key can be found: try again';
  throw new StoreError('unavailable', message, { table });
}

/** Begins the search. If a routing entry led here, the end of the search corrects it (rule 29). */
function goLeft(search: Search, { id, incarnation, gone }: PhaseOf<'left'>, memory: Memory): undefined {
  const { position } = search;
  const parent = branchInMemory(memory, position, 1);
  const entry = parent && childInMemory(parent, position, memory);
  const astray = entry !== undefined && nodeId(memory.table, incarnation, entry.child) === id ? entry : undefined;
  const bound = gone?.header.low ?? astray?.low ?? position;
  count(memory, 'leftSearches');
  const next = entryPhase({ incarnation, bound, astray, tries: 0 });
  search.phase = gone === undefined ? afterMiss(id, incarnation, false, next) : next;
}

/**
 * Starts from the last leaf below the bound that the branches name, but further left by the number
 * of tries, as after merges an entry may begin to the right of its leaf.
 */
function atEntry(search: Search, { left, id }: PhaseOf<'entry'>, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  const { table } = memory;
  const { bound, incarnation, tries } = left;
  if (reply === undefined) return lookLeft(search, id ?? rootId(table), id === undefined ? 'whole' : 'intact', memory);
  const branch = id === undefined ? liveRoot(reply.node, memory) : reply.node;
  if (branch === undefined) return miss(search, id!, incarnation, entryPhase(left));
  const { header } = branch;
  if (header.incarnation !== incarnation) return endLeft(search, left, undefined, memory);
  if (header.level === 0) return startFrom(search, left, { low: header.low, child: header.container });
  const isLeftOfBound = header.high !== undefined && compareBytes(header.high, bound) < 0;
  const isLast = !isLeftOfBound && header.level === 1;
  // As many entries may lead astray as leaves were merged, so each try doubles the distance.
  const skipped = isLast && tries > 0 ? 2 ** (tries - 1) : 0;
  const entry = childBelow(branch, bound, table, skipped) ?? childFor(branch, header.low, table);
  if (isLast) return startFrom(search, left, entry);
  const next = isLeftOfBound ? header.right! : entry.child;
  search.phase = { kind: 'entry', left, id: nodeId(table, incarnation, next) };
  return undefined;
}

function startFrom(search: Search, left: LeftSearch, entry: RoutingEntry): undefined {
  search.phase = { kind: 'start', left, entry };
}

function atStart(search: Search, { left, entry }: PhaseOf<'start'>, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  const { incarnation } = left;
  const id = nodeId(memory.table, incarnation, entry.child);
  if (reply === undefined) return lookLeft(search, id, [], memory);
  const leaf = reply.node;
  if (leaf?.header.state === 'live') {
    search.phase = { kind: 'links', left, live: leaf, at: leaf };
    return undefined;
  }
  const isFirst = entry.low.length === 0;
  const next = beforeThat(left, isFirst ? left.bound : (leaf?.header.low ?? entry.low));
  if (isFirst) return miss(search, id, incarnation, next);
  search.phase = next;
  return undefined;
}

/** Tries again from a leaf further left. */
function beforeThat(left: LeftSearch, bound = left.bound): Phase {
  return entryPhase({ ...left, bound, tries: left.tries + 1 });
}

function alongLinks(search: Search, { left, live, at }: PhaseOf<'links'>, memory: Memory): TreeStep | undefined {
  const { position, reply, until } = search;
  const { high, right } = at.header;
  if (beforeBound(position, high) || right === undefined)
    return endLeft(search, left, { live, retired: at === live ? undefined : at }, memory);
  if (reply === undefined) return lookLeft(search, nodeId(memory.table, left.incarnation, right), [], memory);
  const next = reply.node;
  if (next?.header.state === 'retired' && until === 'left')
    return endLeft(search, left, { live, retired: next }, memory);
  if (next?.header.state === 'live') search.phase = { kind: 'links', left, live: next, at: next };
  else if (next?.header.state === 'retired') search.phase = { kind: 'links', left, live, at: next };
  else search.phase = { kind: 'again', left, live, missing: right };
  return undefined;
}

/** If the live leaf links elsewhere by now, follows that; otherwise the missing leaf is damage. */
function lookAgain(search: Search, phase: PhaseOf<'again'>, memory: Memory): TreeStep | undefined {
  const { left, live, missing } = phase;
  const { reply } = search;
  if (reply === undefined) return lookLeft(search, live.id, [], memory);
  const again = reply.node;
  if (again?.header.state === 'live' && again.header.right !== live.header.right) {
    search.phase = { kind: 'links', left, live: again, at: again };
    return undefined;
  }
  const { incarnation } = left;
  const next = beforeThat(left);
  // This is damage unless the table is being dropped, which the root tells (rule 15).
  const isDamage = again?.header.state === 'live';
  search.phase = isDamage ? afterMiss(nodeId(memory.table, incarnation, missing), incarnation, true, next) : next;
  return undefined;
}

function endLeft(
  search: Search,
  { astray }: LeftSearch,
  found: FoundLeft | undefined,
  memory: Memory,
): TreeStep | undefined {
  if (astray !== undefined && found !== undefined && found.retired === undefined) {
    const { container, incarnation, low } = found.live.header;
    const ownsSeparator = compareBytes(low, astray.low) <= 0;
    const [separator, instead] = ownsSeparator ? [astray.low, astray.child] : [low, undefined];
    search.entryRepairs.push({ level: 1, incarnation, separator, child: container, instead });
  }
  if (search.until === 'left') return { kind: 'left', found };
  if (found === undefined) restart(search, rootId(memory.table), memory);
  search.phase = found === undefined ? ROOT : { kind: 'owner', found };
  return undefined;
}

/** Looks at the owner; a retired leaf counts until it is absorbed. */
function atOwner(search: Search, { live, retired }: FoundLeft, memory: Memory): TreeStep | undefined {
  const { position, reply } = search;
  if (reply === undefined) return lookLeft(search, (retired ?? live).id, 'sought', memory);
  const { node } = reply;
  const isThere = node?.header.state === 'live' || node?.header.state === 'retired';
  if (node !== undefined && isThere && owns(node, position)) return { kind: 'found', node };
  return goTo(search, { id: live.id, incarnation: live.header.incarnation, level: 0, end: position });
}
