// The driver contract in memory: its specification, and the provider of tests and simulations. Where providers differ it does the
// weakest thing any of them does: a failed request of several writes may have applied any subset, a write that changes nothing keeps
// the version, an emptied chunk goes on counting until a replace. There are no timers: `faults` alone decides what is late or lost.
import {
  chunksOf,
  type Driver,
  type DriverLimits,
  type Entity,
  type EntityId,
  type EntityVersion,
  type ListCursor,
  type ListPage,
  type PartName,
  type ReadRequest,
  type Refused,
  type Removal,
  type RemoveOutcome,
  type Unknown,
  type Write,
  type WriteOutcome,
} from '../store/contract/driver.ts';
import { StoreError } from '../store/contract/errors.ts';
import { FUNCTION, OBJECT, optionsOf } from '../store/contract/options.ts';
import { checkList, checkReads, checkRemovals, checkWrites } from './common/contract-checks.ts';
import { refused, unknown } from './common/outcomes.ts';

/** What the provider holds. Drivers that share one are processes that share a database. */
export interface MemoryState {
  readonly entities: MemoryEntities;
  /** Versions given out so far; none is given twice. */
  versionCount: number;
}

/** A Map, or what makes entities up when they are first looked at. */
export interface MemoryEntities {
  get(id: EntityId): StoredEntity | undefined;
  set(id: EntityId, entity: StoredEntity): unknown;
  delete(id: EntityId): boolean;
  /** Each id once, in any order. */
  keys(): Iterable<EntityId>;
}

/** A state that holds nothing but what was written. */
export interface MemoryMapState extends MemoryState {
  readonly entities: Map<EntityId, StoredEntity>;
}

/** An entity at one version; never changed. */
export interface StoredEntity {
  readonly version: EntityVersion;
  readonly parts: ReadonlyMap<PartName, Uint8Array>;
  /** The most chunks each part has taken since the last insert or replace. */
  readonly chunksPeak: ReadonlyMap<PartName, number>;
}

/** One call, as it arrives at the provider. */
export type MemoryCall = { readonly timeoutMs: number } & (
  | { readonly kind: 'read'; readonly requests: readonly ReadRequest[] }
  | { readonly kind: 'write'; readonly writes: readonly Write[] }
  | { readonly kind: 'remove'; readonly removals: readonly Removal[] }
  | { readonly kind: 'list'; readonly prefix: string; readonly cursor: ListCursor | undefined; readonly count: number }
);

/** What goes wrong with one call. All fields may be combined. "Fails" means: a read or list rejects, writes and removals answer `unknown`. */
export interface MemoryFault {
  /** The call fails and never has an effect. */
  readonly fail?: 'throttled' | 'unavailable';
  /** The call fails; it has its effect whenever the test calls `deliver`, each time anew, if its conditions then hold. */
  readonly late?: (deliver: () => void) => void;
  /** Beside its ordinary effect and reply, the call has its effect once more whenever the test calls `deliver`. */
  readonly again?: (deliver: () => void) => void;
  /** The effect happens, then the call fails. */
  readonly replyLost?: true;
  /** The reply (or the failure) arrives after this promise resolves; the effect does not wait for it. */
  readonly reply?: Promise<unknown>;
  /** Of several writes or removals only those with these indexes may apply, then the call fails. */
  readonly only?: readonly number[];
  /** A listing answers no ids, and a cursor to go on with. */
  readonly emptyPage?: true;
}

/** Asked once for each call before its effect; while its promise is open the request is under way. */
export type MemoryFaults = (call: MemoryCall) => MemoryFault | undefined | Promise<MemoryFault | undefined>;

export interface MemoryOptions {
  /** Default: a state of its own. */
  readonly state?: MemoryState;
  readonly limits?: Partial<DriverLimits>;
  /** Default: nothing goes wrong. */
  readonly faults?: MemoryFaults;
}

const DEFAULT_LIMITS: DriverLimits = {
  provider: 'memory',
  entityBytesMax: 1_000_000,
  entityOverheadBytes: 1_024,
  chunkOverheadBytes: 24,
  chunkBytes: 65_532,
  chunksMax: 240,
  idBytesMax: 400,
  readsMax: 100,
  writesMax: 100,
  writeBytesMax: 3_000_000,
  listMax: 1_000,
  lane: () => '',
};

const NO_FAULT: MemoryFault = {};
/** Sorts before all ids. */
const AT_START = '' as ListCursor;

export function memoryState(): MemoryMapState {
  return { entities: new Map(), versionCount: 0 };
}

const check = optionsOf<MemoryOptions>('memoryDriver', { state: OBJECT, limits: OBJECT, faults: FUNCTION });

/** Throws a TypeError for options that do not exist or are of the wrong type. */
export function memoryDriver(options: MemoryOptions = {}): Driver {
  check(options);
  const state = options.state ?? memoryState();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  let closed = false;

  async function arrive(call: MemoryCall): Promise<MemoryFault> {
    if (closed) return { fail: 'unavailable' };
    return (await options.faults?.(call)) ?? NO_FAULT;
  }

  async function ask<T>(call: MemoryCall, answer: (fault: MemoryFault) => T): Promise<T> {
    const fault = await arrive(call);
    const result = answer(fault);
    await fault.reply;
    if (fault.fail !== undefined || fault.late !== undefined || fault.replyLost === true) {
      throw new StoreError(fault.fail ?? 'unavailable', 'the request failed, try again');
    }
    return result;
  }

  async function change<T, O>(
    call: MemoryCall,
    members: readonly T[],
    apply: (member: T) => O | Refused,
  ): Promise<readonly (O | Refused | Unknown)[]> {
    const fault = await arrive(call);
    const deliver = () => applyRequest(members, fault.only, apply);
    const sent = fault.fail === undefined && fault.late === undefined;
    const outcomes = sent ? deliver() : undefined;
    fault.late?.(() => void deliver());
    fault.again?.(() => void deliver());
    await fault.reply;
    if (outcomes !== undefined && fault.replyLost !== true) return outcomes;
    return members.map(() => unknown(fault.fail === 'throttled' ? 'throttled' : 'other'));
  }

  return {
    limits,
    async read(requests, { timeoutMs }) {
      checkReads(requests, limits);
      return ask({ kind: 'read', requests, timeoutMs }, () => requests.map((request) => readOne(state, request)));
    },
    async write(writes, { timeoutMs }) {
      checkWrites(writes, limits);
      const copies = writes.map(copyOf);
      return change<Write, WriteOutcome>({ kind: 'write', writes, timeoutMs }, copies, (w) =>
        applyWrite(state, limits, w),
      );
    },
    async remove(removals, { timeoutMs }) {
      checkRemovals(removals, limits);
      return change<Removal, RemoveOutcome>({ kind: 'remove', removals, timeoutMs }, removals, (r) =>
        applyRemoval(state, r),
      );
    },
    async list(prefix, cursor, count, { timeoutMs }) {
      checkList(prefix, count, limits);
      return ask({ kind: 'list', prefix, cursor, count, timeoutMs }, ({ emptyPage }) =>
        emptyPage === true
          ? { ids: [], cursor: cursor ?? AT_START }
          : listPage(state, { prefix, after: cursor ?? '', count }),
      );
    },
    async close() {
      closed = true;
    },
  };
}

/** What requests do to a state, at once and without checks: for a provider that has a clock and failures of its own. */
export interface MemoryEffects {
  read(requests: readonly ReadRequest[]): readonly (Entity | undefined)[];
  /** In order, up to the first that is refused; of several, all are then `unknown`. Keeps the writes' bytes, uncopied. */
  write(writes: readonly Write[]): readonly WriteOutcome[];
  /** All of them, or none: if one is refused, each is, for the same reason. Keeps the writes' bytes, uncopied. */
  writeTogether(writes: readonly Write[]): readonly WriteOutcome[];
  /** As `write`. */
  remove(removals: readonly Removal[]): readonly RemoveOutcome[];
  /** Of the ids that `isListed` holds for; all, without it. */
  list(page: ListRequest): ListPage;
}

export interface ListRequest {
  readonly prefix: string;
  /** The last id of the page before. */
  readonly after: string;
  readonly count: number;
  readonly isListed?: (id: EntityId) => boolean;
}

export function memoryEffects(state: MemoryState, limits: DriverLimits): MemoryEffects {
  return {
    read: (requests) => requests.map((request) => readOne(state, request)),
    write: (writes) => applyRequest<Write, WriteOutcome>(writes, undefined, (w) => applyWrite(state, limits, w)),
    writeTogether: (writes) => applyTogether(state, limits, writes),
    remove: (removals) => applyRequest<Removal, RemoveOutcome>(removals, undefined, (r) => applyRemoval(state, r)),
    list: (page) => listPage(state, page),
  };
}

/** Puts back what was there if one write is refused. Versions are given out by then; none is given twice. */
function applyTogether(state: MemoryState, limits: DriverLimits, writes: readonly Write[]): readonly WriteOutcome[] {
  const before = writes.map(({ id }) => state.entities.get(id));
  const outcomes: WriteOutcome[] = [];
  for (const write of writes) {
    const outcome = applyWrite(state, limits, write);
    if (isRefused(outcome)) {
      for (const [at, { id }] of writes.slice(0, outcomes.length).entries()) putBack(state, id, before[at]);
      return writes.map(() => outcome);
    }
    outcomes.push(outcome);
  }
  return outcomes;
}

function putBack(state: MemoryState, id: EntityId, entity: StoredEntity | undefined): void {
  if (entity === undefined) state.entities.delete(id);
  else state.entities.set(id, entity);
}

/** Applies a request as the weakest provider does: in order, up to the first bad member, or whatever subset `only` says. */
function applyRequest<T, O>(
  members: readonly T[],
  only: readonly number[] | undefined,
  apply: (member: T) => O | Refused,
): readonly (O | Refused | Unknown)[] {
  if (only !== undefined && members.length > 1) {
    for (const [index, member] of members.entries()) if (only.includes(index)) apply(member);
    return members.map(() => unknown('other'));
  }
  const outcomes: (O | Refused)[] = [];
  for (const member of members) {
    const outcome = apply(member);
    if (isRefused(outcome) && members.length > 1) return members.map(() => unknown('other'));
    outcomes.push(outcome);
  }
  return outcomes;
}

function applyWrite(state: MemoryState, limits: DriverLimits, write: Write): WriteOutcome {
  const current = state.entities.get(write.id);
  const holds = write.kind === 'insert' ? current === undefined : current?.version === write.version;
  if (!holds) return refused('condition');
  const base = write.kind === 'patch' ? current : undefined;
  const parts = new Map(base?.parts);
  const chunksPeak = new Map(base?.chunksPeak);
  for (const { name, bytes, chunksBefore } of write.parts) {
    const peak = chunksPeak.get(name) ?? 0;
    if (chunksBefore < peak) {
      throw new TypeError(
        `chunks would be left behind: id=${write.id} part=${name} chunksBefore=${chunksBefore} chunks=${peak}`,
      );
    }
    chunksPeak.set(name, Math.max(chunksOf(bytes.byteLength, limits), write.kind === 'patch' ? chunksBefore : 0));
    if (bytes.byteLength === 0) parts.delete(name);
    else parts.set(name, bytes);
  }
  if (!fits(parts, chunksPeak, limits)) return refused('limit');
  const same = current !== undefined && sameParts(current.parts, parts);
  const version = same ? current.version : (`v${(state.versionCount += 1)}` as EntityVersion);
  state.entities.set(write.id, { version, parts, chunksPeak });
  return { kind: 'written', version };
}

function applyRemoval(state: MemoryState, removal: Removal): RemoveOutcome {
  if (state.entities.get(removal.id)?.version !== removal.version) return refused('condition');
  state.entities.delete(removal.id);
  return { kind: 'removed' };
}

function fits(
  parts: ReadonlyMap<PartName, Uint8Array>,
  peaks: ReadonlyMap<PartName, number>,
  limits: DriverLimits,
): boolean {
  let bytes = limits.entityOverheadBytes;
  let chunks = 0;
  for (const part of parts.values()) bytes += part.byteLength;
  for (const peak of peaks.values()) chunks += peak;
  return chunks <= limits.chunksMax && bytes + chunks * limits.chunkOverheadBytes <= limits.entityBytesMax;
}

function readOne(state: MemoryState, { id, parts: wanted }: ReadRequest): Entity | undefined {
  const stored = state.entities.get(id);
  if (stored === undefined) return undefined;
  const chosen = [...stored.parts].filter(([name]) => wanted === 'all' || wanted.includes(name));
  return { id, version: stored.version, parts: new Map(chosen.map(([name, bytes]) => [name, new Uint8Array(bytes)])) };
}

/** Pages in id order; the cursor is the last id given, so that insertions and removals elsewhere move nothing. */
function listPage(state: MemoryState, { prefix, after, count, isListed }: ListRequest): ListPage {
  const isOfPage = (id: EntityId): boolean => id.startsWith(prefix) && id > after && (isListed?.(id) ?? true);
  const ids = [...state.entities.keys()].filter(isOfPage).sort();
  const page = ids.slice(0, count);
  return { ids: page, cursor: ids.length > count ? (page.at(-1) as string as ListCursor) : undefined };
}

function sameParts(a: ReadonlyMap<PartName, Uint8Array>, b: ReadonlyMap<PartName, Uint8Array>): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, bytes]) => {
    const other = b.get(name);
    return other !== undefined && Buffer.compare(bytes, other) === 0;
  });
}

/** Copies bytes. A Buffer's `slice` would share its memory. */
function copyOf(write: Write): Write {
  return { ...write, parts: write.parts.map((part) => ({ ...part, bytes: new Uint8Array(part.bytes) })) };
}

function isRefused(outcome: unknown): outcome is Refused {
  return (outcome as { kind?: string }).kind === 'refused';
}
