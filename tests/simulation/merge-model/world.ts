// A small model of leaves that split and merge. It judges the rules of merging apart from the
// engine, so a change of a rule begins here. A world is one plain value; a step makes another.
//
// Read in this order: leaf.ts (the parts), protocol/ (the rules), this file (provider, network,
// processes), checks.ts (after every step), progress.ts (in between and in the end). exhaust.ts
// takes all steps of the configurations in small.ts, walk.ts many at random, scripts.ts a few that
// were hard to find. mutants.ts breaks the rules one by one.
//
// Modelled: the leaves of one level with states, bounds, links, commit ids, next numbers and
// records; one branch of entries that are hints; processes with memories, each at one operation
// (put, strong get, split, merge, strip, removal of orphans, dropping of entries); writes that are
// late, doubled, unanswered, falsely refused or refused for nothing; crashes, and operations given
// up with a write under way.
//
// On request a stripped leaf is removed, while no write to it is under way. A late copy of its own
// insert would do harm then, as no other write does. A process that still remembers the leaf gets
// `unknown` for its put, for good.
//
// Left to the simulation: pages, layers, limits, expiry, deletes, conditional puts, drop and
// recreate, the growth of the root, several branches and levels, `maxAgeMs`, the unchanged
// shortcut, scans, courtesies, commit lists that overflow, older code. Reads are atomic. Operations
// of one process never overlap; those of two do. A merge may begin at any time, whatever rule 32
// says.
import {
  type Answer,
  type Entry,
  type Id,
  type Leaf,
  type Operation,
  type Repair,
  type Result,
  type Write,
} from './leaf.ts';
import { type Breach } from './mutants.ts';
import { perform } from './protocol/operations.ts';
import { Corrupt } from './protocol/search.ts';
import { type Memory, type Reply, type Request, Self } from './self.ts';

export interface Process {
  /** The memory as the operation found it. The replies give what it has learned since. */
  readonly memory: Memory;
  /** See `Traits`. */
  readonly copies: boolean;
  readonly carries: boolean;
  readonly operation: Operation | undefined;
  readonly replies: readonly Reply[];
  /** The request that the operation waits for. */
  readonly request: Exclude<Request, Repair> | undefined;
}

export interface World {
  readonly leaves: Readonly<Record<Id, Leaf>>;
  /** Counts the writes of each id. Versions of a removed leaf that returns go on from there. */
  readonly versions: Readonly<Record<Id, number>>;
  readonly branch: readonly Entry[];
  /** Messages that may arrive at any time, or never. */
  readonly late: readonly (Write | Repair)[];
  readonly processes: readonly Process[];
  readonly breach: Breach | undefined;
}

/** How a request ends. Faults befall writes only. `late` and `doubled` leave a copy behind. */
export type How = 'truly' | 'reply lost' | 'false refusal' | 'refusal for nothing' | 'late' | 'doubled';

export type Step =
  | { readonly kind: 'begin'; readonly process: number; readonly operation: Operation }
  /** The process's request takes effect and is answered. */
  | { readonly kind: 'answer'; readonly process: number; readonly how: How }
  | { readonly kind: 'arrive'; readonly index: number }
  /** The operation ends with an unknown result. Its write may still arrive. */
  | { readonly kind: 'give up' | 'crash'; readonly process: number }
  /** A stripped leaf is removed. */
  | { readonly kind: 'expire'; readonly id: Id };

/** The results of a step, for the checks. */
export interface Effect {
  readonly world: World;
  /** The write that took effect. */
  readonly applied?: Write;
  readonly ended?: { readonly process: number; readonly operation: Operation; readonly result: Result };
}

/** An operation that makes more requests does not end. */
const REQUESTS_MAX = 80;

export function take(world: World, step: Step): Effect {
  switch (step.kind) {
    case 'begin': {
      const process = world.processes[step.process]!;
      return advance(world, step.process, { ...process, operation: step.operation });
    }
    case 'answer':
      return answer(world, step.process, step.how);
    case 'arrive': {
      const message = world.late[step.index]!;
      const rest = { ...world, late: world.late.toSpliced(step.index, 1) };
      if (message.kind === 'repair') return { world: { ...rest, branch: repaired(rest, message) } };
      return withoutAnswer(apply(rest, message));
    }
    case 'give up':
    case 'crash':
      return { world: breakOff(world, step.process, step.kind === 'crash') };
    case 'expire':
      return withoutAnswer(apply(world, { kind: 'remove', id: step.id, version: world.leaves[step.id]!.version }));
    default:
      return step satisfies never;
  }
}

interface Applied {
  readonly world: World;
  readonly write: Write | undefined;
  readonly answer: Answer;
}

function withoutAnswer({ world, write }: Applied): Effect {
  return write === undefined ? { world } : { world, applied: write };
}

/** The provider applies a write if its condition holds. */
function apply(world: World, write: Write): Applied {
  const id = idOf(write);
  const leaf = world.leaves[id];
  const isMet = write.kind === 'insert' ? leaf === undefined : leaf?.version === write.version;
  if (!isMet) return { world, write: undefined, answer: { kind: 'refused' } };
  const version = (world.versions[id] ?? 0) + 1;
  const leaves = { ...world.leaves };
  if (write.kind === 'remove') delete leaves[id];
  else leaves[id] = { ...write.content, version };
  return {
    world: { ...world, leaves, versions: { ...world.versions, [id]: version } },
    write,
    answer: { kind: 'written', version },
  };
}

function idOf(write: Write): Id {
  return write.kind === 'remove' ? write.id : write.content.id;
}

function repaired({ branch, breach }: World, { separator, expected, child }: Repair): readonly Entry[] {
  const isAsExpected = branch.find((entry) => entry.separator === separator)?.child === expected;
  const isForced = breach === 'repairs-unconditionally' && expected !== undefined;
  if (!isAsExpected && !isForced) return branch;
  const others = branch.filter((entry) => entry.separator !== separator);
  if (child === undefined) return others;
  return [...others, { separator, child }].toSorted((a, b) => a.separator - b.separator);
}

function answer(world: World, index: number, how: How): Effect {
  const process = world.processes[index]!;
  const { request } = process;
  const replied = (reply: Reply): Process => ({ ...process, replies: [...process.replies, reply] });
  if (request?.kind === 'read') return advance(world, index, replied(world.leaves[request.id]));
  if (request?.kind === 'read branch') return advance(world, index, replied(world.branch));
  if (request === undefined) throw new RangeError(`process ${index} waits for nothing`);
  const { write } = request;
  const late = (): World => ({ ...world, late: withMessage(world.late, write) });
  if (how === 'late') return advance(late(), index, replied({ kind: 'unknown' }));
  if (how === 'refusal for nothing') return advance(world, index, replied({ kind: 'refused' }));
  const applied = apply(how === 'doubled' ? late() : world, write);
  const told: Answer =
    how === 'reply lost' ? { kind: 'unknown' } : how === 'false refusal' ? { kind: 'refused' } : applied.answer;
  return { ...withoutAnswer(applied), ...advance(applied.world, index, replied(told)) };
}

/** Replays the operation with the replies that it had, up to the first request without a reply. */
function advance(world: World, index: number, process: Process): Effect {
  const operation = process.operation!;
  const self = selfOf(world, index, process);
  const ended = (late: World['late'], result: Result): Effect => ({
    world: withProcess({ ...world, late }, index, idle(process, self.memory)),
    ended: { process: index, operation, result },
  });
  let { late } = world;
  const replies: Reply[] = [];
  try {
    const steps = perform(self, operation);
    for (let turn = steps.next(); ; turn = steps.next(replies.at(-1))) {
      if (turn.done === true) return ended(late, turn.value);
      if (replies.length >= REQUESTS_MAX) throw new Corrupt('the operation does not end');
      const request = turn.value;
      const isNew = replies.length >= process.replies.length;
      if (isNew && request.kind !== 'repair')
        return { world: withProcess({ ...world, late }, index, { ...process, replies, request }) };
      if (isNew && request.kind === 'repair') late = withMessage(late, request);
      replies.push(process.replies[replies.length]);
    }
  } catch (error) {
    if (!(error instanceof Corrupt)) throw error;
    return ended(late, { kind: 'corrupt', why: error.message });
  }
}

function selfOf({ breach }: World, index: number, { memory, copies, carries }: Process): Self {
  return new Self({ name: 'pqrstuv'[index]!, copies, carries, breach }, memory);
}

function idle({ copies, carries }: Pick<Process, 'copies' | 'carries'>, memory: Memory): Process {
  return { memory, copies, carries, operation: undefined, replies: [], request: undefined };
}

/** A process that remembers nothing. */
export function newcomer(): Process {
  return idle({ copies: false, carries: false }, { leaves: {}, branch: undefined, drawn: 0 });
}

function breakOff(world: World, index: number, isCrash: boolean): World {
  const process = world.processes[index]!;
  const { operation, replies, request } = process;
  const self = selfOf(world, index, process);
  if (operation !== undefined) {
    const steps = perform(self, operation);
    steps.next();
    for (const reply of replies) steps.next(reply);
  }
  const late = request?.kind === 'write' ? withMessage(world.late, request.write) : world.late;
  const { memory } = self;
  const kept = isCrash ? { leaves: {}, branch: undefined, drawn: memory.drawn } : memory;
  return withProcess({ ...world, late }, index, idle(process, kept));
}

function withProcess(world: World, index: number, process: Process): World {
  return { ...world, processes: world.processes.with(index, process) };
}

/** Sorted and each once, so that equal worlds compare equal. */
function withMessage(late: World['late'], message: Write | Repair): World['late'] {
  const text = JSON.stringify(message);
  const texts = late.map((other) => JSON.stringify(other));
  if (texts.includes(text)) return late;
  const place = texts.findIndex((other) => other > text);
  return late.toSpliced(place === -1 ? late.length : place, 0, message);
}

/** Whether a write to the leaf is under way. */
export function isWriteUnderWay({ late, processes }: World, id: Id): boolean {
  const requested = processes.flatMap(({ request }) => (request?.kind === 'write' ? [request.write] : []));
  return [...late, ...requested].some((message) => message.kind !== 'repair' && idOf(message) === id);
}

export interface Start {
  /** The lows of the leaves. The first is 0. */
  readonly lows: readonly number[];
  /** All positions lie below it. */
  readonly end: number;
  /** Lows of leaves that the branch does not know. */
  readonly unnamed?: readonly number[];
  /** How each process treats retired leaves, and whether it remembers the beginning. */
  readonly processes: readonly {
    readonly copies?: boolean;
    readonly carries?: boolean;
    readonly remembers?: boolean;
  }[];
  readonly breach?: Breach | undefined;
}

/** Leaves A, B, C and on, with a record at each position. */
export function beginning({ lows, end, unnamed = [], processes, breach }: Start): World {
  const ids = lows.map((_, index) => 'ABCDEFGH'[index]!);
  const leaves = lows.map((low, index): Leaf => {
    const high = lows[index + 1] ?? end;
    const positions = Array.from({ length: high - low }, (_, offset) => low + offset);
    return {
      id: ids[index]!,
      state: 'live',
      low,
      high,
      right: ids[index + 1],
      next: 2,
      count: 1,
      commits: [],
      records: Object.fromEntries(positions.map((position) => [position, { value: `first ${position}`, number: 1 }])),
      origin: undefined,
      version: 1,
    };
  });
  const byId = Object.fromEntries(leaves.map((leaf) => [leaf.id, leaf]));
  const entries = lows.map((separator, index) => ({ separator, child: ids[index]! }));
  const branch = entries.filter(({ separator }) => !unnamed.includes(separator));
  return {
    leaves: byId,
    versions: Object.fromEntries(ids.map((id) => [id, 1])),
    branch,
    late: [],
    breach,
    processes: processes.map(({ copies = false, carries = false, remembers = false }) =>
      idle({ copies, carries }, { leaves: remembers ? byId : {}, branch: remembers ? branch : undefined, drawn: 0 }),
    ),
  };
}
