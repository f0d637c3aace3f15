// The search to the left (rule 28): a leaf that is not live lost its content to its left. A leaf
// strictly below is looked for in branches read anew, and links lead on, past every cache. The
// leftmost leaf always lives, so the search ends.
import { childBelow, childFor, type RoutingEntry } from '../container/branch.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { compareBytes } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/ids.ts';
import { beforeBound } from '../format/position.ts';
import { count } from '../io/counters.ts';
import {
  afterMiss,
  branchInMemory,
  childInMemory,
  ENTRY,
  type FoundLeft,
  goTo,
  type LeftSearch,
  liveRoot,
  look,
  type Memory,
  newLeftSearch,
  owns,
  type PhaseOf,
  restart,
  ROOT,
  type Search,
  type TreeStep,
} from './search.ts';

/** Steps after which leaves merge, or branches change, faster than they can be followed. */
const STEPS_MAX = 100;
const NO_SLOTS: readonly number[] = [];

/** An entry that led to the leaf is set to the live leaf that owns its separator (rule 29). */
export function goLeft(search: Search, { id, incarnation, gone }: PhaseOf<'left'>, memory: Memory): undefined {
  const { position } = search;
  const parent = branchInMemory(memory, position, 1);
  const entry = parent && childInMemory(parent, position, memory);
  const astray = entry !== undefined && nodeId(memory.table, incarnation, entry.child) === id ? entry : undefined;
  count(memory, 'leftSearches');
  search.left = newLeftSearch(incarnation, gone?.header.low ?? astray?.low ?? position, astray);
  search.phase = gone === undefined ? afterMiss(id, incarnation, false, ENTRY) : ENTRY;
}

/**
 * The last leaf but those skipped named below the bound by fresh branches, or the first. After
 * merges an entry may begin to the right of its leaf.
 */
export function atEntry(search: Search, id: EntityId | undefined, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  const left = leftOf(search);
  const { table } = memory;
  const { bound, incarnation, tries } = left;
  if (reply === undefined) return id === undefined ? look(rootId(table), 'whole') : look(id, 'intact');
  const branch = id === undefined ? liveRoot(reply.node, memory) : reply.node;
  left.steps += 1;
  if (left.steps > STEPS_MAX)
    throw new StoreError('unavailable', 'the branches change faster than they can be read: try again', { table });
  if (branch === undefined) {
    search.phase = afterMiss(id!, incarnation, left.hasMissedBranch, ENTRY);
    left.hasMissedBranch = true;
    return undefined;
  }
  const { header } = branch;
  if (header.incarnation !== incarnation) return endLeft(search, undefined, memory);
  if (header.level === 0) return startFrom(search, { low: header.low, child: header.container });
  const isLeftOfBound = header.high !== undefined && compareBytes(header.high, bound) < 0;
  const isLast = !isLeftOfBound && header.level === 1;
  // As many entries may lead astray as leaves were merged at once.
  const skipped = isLast && tries > 0 ? 2 ** (tries - 1) : 0;
  const entry = childBelow(branch, bound, table, skipped) ?? childFor(branch, header.low, table);
  if (isLast) return startFrom(search, entry);
  search.phase = { kind: 'entry', id: nodeId(table, incarnation, isLeftOfBound ? header.right! : entry.child) };
  return undefined;
}

function startFrom(search: Search, entry: RoutingEntry): undefined {
  search.phase = { kind: 'start', entry };
}

export function atStart(search: Search, entry: RoutingEntry, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  const left = leftOf(search);
  const { incarnation } = left;
  const id = nodeId(memory.table, incarnation, entry.child);
  if (reply === undefined) return look(id, NO_SLOTS);
  const leaf = reply.node;
  left.steps = 0;
  if (leaf?.header.state === 'live') {
    search.phase = { kind: 'links', live: leaf, at: leaf };
    return undefined;
  }
  const isFirst = entry.low.length === 0;
  if (!isFirst) left.bound = leaf?.header.low ?? entry.low;
  startAgain(search, memory);
  if (isFirst) {
    search.phase = afterMiss(id, incarnation, left.hasMissedFirst, ENTRY);
    left.hasMissedFirst = true;
  }
  return undefined;
}

/** From a leaf further left. The leftmost leaf always lives, so the search ends. */
function startAgain(search: Search, { table }: Memory): undefined {
  const left = leftOf(search);
  left.tries += 1;
  left.steps = 0;
  if (left.tries >= STEPS_MAX)
    throw new StoreError('unavailable', 'containers merge faster than the key can be found: try again', { table });
  search.phase = ENTRY;
}

export function alongLinks(search: Search, { live, at }: PhaseOf<'links'>, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  const left = leftOf(search);
  const { high, right } = at.header;
  if (beforeBound(search.position, high) || right === undefined)
    return endLeft(search, { live, retired: at === live ? undefined : at }, memory);
  if (reply === undefined) return look(nodeId(memory.table, left.incarnation, right), NO_SLOTS);
  const next = reply.node;
  if (next?.header.state === 'live') search.phase = { kind: 'links', live: next, at: next };
  else if (next?.header.state === 'retired') {
    if (search.until === 'left') return endLeft(search, { live, retired: next }, memory);
    search.phase = { kind: 'links', live, at: next };
  } else search.phase = { kind: 'again', live, missing: right };
  return undefined;
}

/** The live leaf must have another link by now; a retired leaf's is absorbed after it. */
export function lookAgain(search: Search, { live, missing }: PhaseOf<'again'>, memory: Memory): TreeStep | undefined {
  const { reply } = search;
  const left = leftOf(search);
  if (reply === undefined) return look(live.id, NO_SLOTS);
  const again = reply.node;
  left.steps += 1;
  if (again?.header.state !== 'live' || left.steps >= STEPS_MAX) return startAgain(search, memory);
  if (again.header.right !== live.header.right) {
    search.phase = { kind: 'links', live: again, at: again };
    return undefined;
  }
  startAgain(search, memory);
  // Damage, unless the table is being dropped: the root tells (rule 15).
  const { incarnation } = left;
  search.phase = afterMiss(nodeId(memory.table, incarnation, missing), incarnation, true, ENTRY);
  return undefined;
}

function endLeft(search: Search, found: FoundLeft | undefined, memory: Memory): TreeStep | undefined {
  const { astray } = leftOf(search);
  search.left = undefined;
  if (astray !== undefined && found !== undefined && found.retired === undefined) {
    const { container, incarnation, low } = found.live.header;
    const ownsSeparator = compareBytes(low, astray.low) <= 0;
    const [separator, instead] = ownsSeparator ? [astray.low, astray.child] : [low, undefined];
    search.hints.push({ level: 1, incarnation, separator, child: container, instead });
  }
  if (search.until === 'left') return { kind: 'left', found };
  if (found === undefined) restart(search, rootId(memory.table), memory);
  search.phase = found === undefined ? ROOT : { kind: 'owner', found };
  return undefined;
}

/** A retired leaf's content counts until it is absorbed. */
export function atOwner(search: Search, { live, retired }: FoundLeft, { table }: Memory): TreeStep | undefined {
  const { reply } = search;
  if (reply === undefined) return look((retired ?? live).id, 'sought');
  const { node } = reply;
  const isThere = node?.header.state === 'live' || node?.header.state === 'retired';
  if (node !== undefined && isThere && owns(node, search.position)) return { kind: 'found', node };
  search.leftSearches += 1;
  if (search.leftSearches >= STEPS_MAX)
    throw new StoreError('unavailable', 'containers merge faster than the key can be read: try again', { table });
  const { incarnation } = live.header;
  return goTo(search, { id: live.id, incarnation, level: 0, end: search.position });
}

function leftOf({ left }: Search): LeftSearch {
  if (left === undefined) throw new Error('no search to the left has begun');
  return left;
}
