// The effects of requests in memory, which promise no more than the weakest provider.
import {
  chunksOf,
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
} from '../../store/contract/driver.ts';
import { refused, unknown } from '../common/driver-outcomes.ts';

/** The stored entities. Drivers that share a state are like processes that share a database. */
export interface MemoryState {
  readonly entities: Map<EntityId, StoredEntity>;
  /** How many versions were given out; none is given twice. */
  versionCount: number;
}

/** An entity at one version; never changed. */
export interface StoredEntity {
  readonly version: EntityVersion;
  readonly parts: ReadonlyMap<PartName, Uint8Array>;
  /** The most chunks each part has taken since the last insert or replace. */
  readonly chunksPeak: ReadonlyMap<PartName, number>;
}

export function memoryState(): MemoryState {
  return { entities: new Map(), versionCount: 0 };
}

export interface ListRequest {
  readonly prefix: string;
  /** The last id of the page before. */
  readonly after: string;
  readonly count: number;
}

/** With `only`, no other writes or removals have an effect, and all outcomes are `unknown`. */
export function memoryEffects(state: MemoryState, limits: DriverLimits) {
  return {
    read: (requests: readonly ReadRequest[]) => requests.map((request) => readOne(state, request)),
    /** Applies writes up to the first refused one, after which all of several are `unknown`. */
    write: (writes: readonly Write[], only?: readonly number[]) =>
      applyRequest<Write, WriteOutcome>(writes, only, (write) => applyWrite(state, limits, write)),
    /** As `write`. */
    remove: (removals: readonly Removal[], only?: readonly number[]) =>
      applyRequest<Removal, RemoveOutcome>(removals, only, (removal) => applyRemoval(state, removal)),
    list: (page: ListRequest) => listPage(state, page),
  };
}

/** Applies members in order up to the first bad one, or the subset `only`. */
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
    if (chunksBefore < peak)
      throw new TypeError(
        `chunks would be left behind: id=${write.id} part=${name} chunksBefore=${chunksBefore} chunks=${peak}`,
      );
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

/** The cursor is the last id that was given, so insertions and removals do not move it. */
function listPage(state: MemoryState, { prefix, after, count }: ListRequest): ListPage {
  const ids = [...state.entities.keys()].filter((id) => id.startsWith(prefix) && id > after).sort();
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

function isRefused(outcome: unknown): outcome is Refused {
  return (outcome as { kind?: string }).kind === 'refused';
}
