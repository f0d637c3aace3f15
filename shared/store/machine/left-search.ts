// The search to the left (rule 28). A leaf that is no longer live has given its content to a leaf
// on its left. The search reads branches past every cache for an entry strictly below, and follows
// the links from there. The leftmost leaf always lives, so the search ends.
import { childBelow, childFor, type RoutingEntry } from '../container/branch.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { compareBytes } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/entity-ids.ts';
import { beforeBound } from '../format/position.ts';
import { count } from '../io/counters.ts';
import {
  afterMiss,
  branchInMemory,
  childInMemory,
  entryPhase,
  type FoundLeft,
  goTo,
  type LeftSearch,
  liveRoot,
  type Look,
  look,
  type Memory,
  miss,
  owns,
  type Phase,
  type PhaseOf,
  restart,
  ROOT,
  type Search,
  type TreeStep,
} from './search.ts';

/** After so many looks, leaves merge faster than the search can follow them. */
const LOOKS_MAX = 400;

function lookLeft(search: Search, id: EntityId, what: Look, { table }: Memory): TreeStep {
  search.leftLooks += 1;
  if (search.leftLooks <= LOOKS_MAX) return look(id, what);
  const message = 'containers merge faster than the key can be found: try again';
  throw new StoreError('unavailable', message, { table });
}

/** Begins the search. If a routing entry led here, the end of the search corrects it (rule 29). */
export function goLeft(search: Search, { id, incarnation, gone }: PhaseOf<'left'>, memory: Memory): undefined {
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
export function atEntry(search: Search, { left, id }: PhaseOf<'entry'>, memory: Memory): TreeStep | undefined {
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

export function atStart(search: Search, { left, entry }: PhaseOf<'start'>, memory: Memory): TreeStep | undefined {
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

export function alongLinks(search: Search, { left, live, at }: PhaseOf<'links'>, memory: Memory): TreeStep | undefined {
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
export function lookAgain(search: Search, phase: PhaseOf<'again'>, memory: Memory): TreeStep | undefined {
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
export function atOwner(search: Search, { live, retired }: FoundLeft, memory: Memory): TreeStep | undefined {
  const { position, reply } = search;
  if (reply === undefined) return lookLeft(search, (retired ?? live).id, 'sought', memory);
  const { node } = reply;
  const isThere = node?.header.state === 'live' || node?.header.state === 'retired';
  if (node !== undefined && isThere && owns(node, position)) return { kind: 'found', node };
  return goTo(search, { id: live.id, incarnation: live.header.incarnation, level: 0, end: position });
}
