// Invariants of every step. The records that links lead to from the leftmost leaf are the table: an
// answer was true of it at a moment within its operation.
import { type Content, type Id, type Leaf, type Position, type Stored, type Write } from './leaf.ts';
import { type Effect, type World } from './world.ts';

/** The leftmost leaf, which never retires. */
const LEFTMOST = 'A';

/** The checks' memory of a world's past. */
export interface History {
  /** Values whose put took effect. */
  readonly landed: readonly string[];
  readonly everLinked: readonly Id[];
  /** For each process with a get under way: the values of its key since the get began. */
  readonly seen: readonly (readonly (string | undefined)[])[];
  readonly hasRemoved: boolean;
}

export class Violation extends Error {}

export function historyOf(world: World): History {
  return {
    landed: [],
    everLinked: chainOf(world).leaves.map(({ id }) => id),
    seen: world.processes.map(() => NOTHING),
    hasRemoved: false,
  };
}

/** The leaves that links lead to from the leftmost one. */
export interface Chain {
  /** In order. */
  readonly leaves: readonly Leaf[];
  readonly records: Content['records'];
}

const chains = new WeakMap<World['leaves'], Chain>();

/** Throws a Violation of invariant 1. */
export function chainOf({ leaves }: World): Chain {
  const known = chains.get(leaves);
  if (known !== undefined) return known;
  const linked = linkedLeaves(leaves);
  const chain = { leaves: linked, records: Object.assign({}, ...linked.map(({ records }) => records)) };
  chains.set(leaves, chain);
  return chain;
}

function linkedLeaves(leaves: World['leaves']): Leaf[] {
  const linked: Leaf[] = [];
  let low: Position = 0;
  for (let id: Id | undefined = LEFTMOST; id !== undefined;) {
    const leaf: Leaf | undefined = leaves[id];
    if (leaf === undefined) throw new Violation(`${linked.at(-1)?.id} links to ${id}, which is missing`);
    if (leaf.low !== low) throw new Violation(`${id} begins at ${leaf.low}, and what links to it ends at ${low}`);
    if (leaf.state === 'merged') throw new Violation(`${id} is stripped, and linked`);
    linked.push(leaf);
    low = leaf.high;
    id = leaf.right;
  }
  if (linked[0]!.state !== 'live') throw new Violation('the leftmost leaf does not live');
  return linked;
}

/** Throws a Violation, or returns the history with this step. */
export function check(before: World, { world, applied, ended }: Effect, history: History): History {
  const written =
    applied === undefined ? history : checkWrite(applied, { old: chainOf(before), now: chainOf(world) }, history);
  if (world.leaves !== before.leaves || world.branch !== before.branch) checkLeaves(world, written);
  if (world.branch !== before.branch) checkBranch(before, world);
  const next = withSeen(written, before, world);
  if (ended === undefined) return next;
  checkResult(ended, next);
  return next.seen[ended.process] === NOTHING ? next : { ...next, seen: next.seen.with(ended.process, NOTHING) };
}

/** Adds the present values of keys that gets are under way for. */
function withSeen(history: History, before: World, world: World): History {
  let { seen } = history;
  for (const [index, { operation: begun }] of before.processes.entries()) {
    const operation = begun ?? world.processes[index]!.operation;
    if (operation?.kind !== 'get') continue;
    const value = chainOf(world).records[operation.key]?.value;
    if (!seen[index]!.includes(value)) seen = seen.with(index, [...seen[index]!, value]);
  }
  return seen === history.seen ? history : { ...history, seen };
}

const NOTHING: readonly never[] = [];

function checkLeaves(world: World, { everLinked }: History): void {
  const linked = chainOf(world).leaves;
  for (const leaf of Object.values(world.leaves)) {
    const isLost = leaf.state === 'live' && everLinked.includes(leaf.id) && !linked.includes(leaf);
    if (isLost) throw new Violation(`${leaf.id} lives and was linked, and nothing links to it`);
  }
}

/** An entry names a leaf that does not begin right of it. A correct one stays. */
function checkBranch(before: World, { leaves, branch }: World): void {
  if (branch[0]?.separator !== 0) throw new Violation('the branch has lost its first entry');
  for (const { separator, child } of branch) {
    const low = leaves[child]?.low ?? 0;
    if (low > separator) throw new Violation(`the entry at ${separator} names ${child}, which begins at ${low}`);
  }
  for (const entry of before.branch) {
    const leaf = leaves[entry.child];
    const isRight = leaf?.state === 'live' && leaf.low === entry.separator;
    if (isRight && !branch.includes(entry))
      throw new Violation(`the entry at ${entry.separator} was right, and was changed`);
  }
}

/** A put's commit changes its record once, to a higher version. No other write changes records. */
function checkWrite(write: Write, { old, now }: Record<'old' | 'now', Chain>, history: History): History {
  const keys = [...new Set([...Object.keys(old.records), ...Object.keys(now.records)])].map(Number);
  const changed = keys.filter((key) => !isSame(old.records[key], now.records[key]));
  const put = write.kind === 'commit' ? write.put : undefined;
  if (put === undefined && changed.length > 0)
    throw new Violation(`a ${write.kind} that is no put's changed the records ${changed.join()}`);
  return {
    ...history,
    everLinked: [...new Set([...history.everLinked, ...now.leaves.map(({ id }) => id)])].toSorted(),
    landed:
      put === undefined
        ? history.landed
        : withLanded(
            history.landed,
            put,
            changed.map((key) => [old.records[key], now.records[key]]),
          ),
    hasRemoved: history.hasRemoved || write.kind === 'remove',
  };
}

function withLanded(landed: History['landed'], put: string, changed: readonly (Stored | undefined)[][]): string[] {
  const [[old, now] = []] = changed;
  if (changed.length !== 1 || now?.value !== put)
    throw new Violation(`the commit of "${put}" changed ${changed.length} records, not its own`);
  if ((old?.number ?? 0) >= now.number) throw new Violation(`"${put}" has no greater version than what it replaced`);
  if (landed.includes(put)) throw new Violation(`"${put}" was written twice`);
  return [...landed, put];
}

function isSame(a: Stored | undefined, b: Stored | undefined): boolean {
  return a?.value === b?.value && a?.number === b?.number;
}

function checkResult({ process, operation, result }: NonNullable<Effect['ended']>, history: History): void {
  const what = JSON.stringify(operation);
  if (result.kind === 'corrupt') throw new Violation(`false "corrupt" by ${what}: ${result.why}`);
  if (operation.kind === 'put') {
    if (result.kind === 'landed' && !history.landed.includes(operation.value))
      throw new Violation(`"${operation.value}" was acknowledged and never written`);
    if (result.kind === 'unknown' && !history.hasRemoved)
      throw new Violation(`"${operation.value}" is of unknown fate, although every leaf is there to tell`);
  }
  if (result.kind === 'value' && !history.seen[process]!.includes(result.value))
    throw new Violation(`${what} gave "${result.value}", and the record held ${history.seen[process]!.join(', ')}`);
}
