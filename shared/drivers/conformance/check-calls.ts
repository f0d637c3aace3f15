// What checks are made of: a driver's calls, ids, parts and comparisons. A check tries one promise
// of the contract (store/contract/driver.ts) on a driver, and throws if the driver breaks it. Tests
// and `stowage doctor` run the same checks.
import { randomBytes } from 'node:crypto';
import { inspect, isDeepStrictEqual } from 'node:util';
import type {
  Driver,
  Entity,
  EntityId,
  EntityVersion,
  ListCursor,
  Part,
  PartName,
  Removal,
  Write,
} from '../../store/contract/driver.ts';

/** The place behind a driver. */
export interface Around {
  /** Opens another driver on the same place; whoever opens it closes it. */
  open(): Driver | Promise<Driver>;
  /** Whether a failed request of several writes is all or nothing. */
  readonly isAtomic: boolean;
}

/** A check works on ids with a prefix of its own, so checks may run in any order or alone. */
export interface Check {
  /** The promise, in words. */
  readonly name: string;
  /** `prefix` is an id as well. Rejects with an error that says what was found and expected. */
  run(driver: Driver, prefix: EntityId, around: Around): Promise<void>;
}

export function check(name: string, run: Check['run']): Check {
  return { name, run };
}

export const CALL = { timeoutMs: 100_000 };

/** A string that is an id, as the contract has ids. */
export function entityId(id: string): EntityId {
  return id as EntityId;
}

/** A string that is a part's name. */
export function partName(name: string): PartName {
  return name as PartName;
}

/** A fresh prefix of ids, itself an id. */
export function freshPrefix(): EntityId {
  return entityId(`t${randomBytes(8).toString('hex')}-`);
}

export function part(name: string, content: string | Uint8Array, chunksBefore = 0): Part {
  return { name: partName(name), bytes: typeof content === 'string' ? Buffer.from(content) : content, chunksBefore };
}

/** Incompressible, so that no transport makes it small. */
export function noise(bytes: number): Uint8Array {
  return randomBytes(bytes);
}

export function textOf(entity: Entity | undefined): Record<string, string> | undefined {
  if (entity === undefined) return undefined;
  return Object.fromEntries([...entity.parts].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));
}

/** Sends one write; its outcome. */
export async function writeOne(driver: Driver, write: Write) {
  const [outcome] = await driver.write([write], CALL);
  return outcome!;
}

/** Sends one write that must succeed; the new version. */
export async function written(driver: Driver, write: Write): Promise<EntityVersion> {
  const outcome = await writeOne(driver, write);
  if (outcome.kind !== 'written')
    throw new Error(`not written: ${outcome.kind} ${outcome.reason}`, { cause: outcome.cause });
  return outcome.version;
}

export function insert(id: EntityId, parts: readonly Part[]): Write {
  return { kind: 'insert', id, parts };
}

export function patch(id: EntityId, version: EntityVersion, parts: readonly Part[]): Write {
  return { kind: 'patch', id, version, parts };
}

export function replace(id: EntityId, version: EntityVersion, parts: readonly Part[]): Write {
  return { kind: 'replace', id, version, parts };
}

export async function removeOne(driver: Driver, removal: Removal) {
  const [outcome] = await driver.remove([removal], CALL);
  return outcome!;
}

export async function readOne(driver: Driver, id: EntityId, parts: 'all' | readonly string[] = 'all') {
  const [entity] = await driver.read([{ id, parts: parts === 'all' ? parts : parts.map(partName) }], CALL);
  return entity;
}

/** Ids that may ride in one request. */
export function idsOfOneLane(driver: Driver, prefix: string, count: number): EntityId[] {
  const ids: EntityId[] = [];
  for (let number = 0; ids.length < count; number += 1) {
    const id = entityId(`${prefix}${number}`);
    if (driver.limits.lane(id) === driver.limits.lane(entityId(`${prefix}0`))) ids.push(id);
  }
  return ids;
}

/** All ids under a prefix, by pages; `between` runs after each page. */
export async function listAll(
  driver: Driver,
  prefix: string,
  count: number,
  between: () => Promise<void> = async () => {},
): Promise<EntityId[]> {
  const ids: EntityId[] = [];
  const cursors = new Set<ListCursor>();
  for (let cursor: ListCursor | undefined; ;) {
    const page = await driver.list(prefix, cursor, count, CALL);
    if (page.ids.length > count) throw new Error(`a page of ${page.ids.length} ids, asked for ${count}`);
    ids.push(...page.ids);
    ({ cursor } = page);
    if (cursor === undefined) return ids;
    // Such a listing would never end.
    if (cursors.has(cursor)) throw new Error('a listing gave the same cursor twice');
    cursors.add(cursor);
    await between();
  }
}

/** Throws unless both are deeply equal. */
export function same(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) throw differs(found, wanted);
}

/** Throws unless the object has these properties, deeply; it may have more. */
export function matches(found: unknown, wanted: object): void {
  if (!includes(found, wanted)) throw differs(found, wanted);
}

function includes(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return Object.is(found, wanted);
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(wanted).every(([name, value]) => includes((found as Record<string, unknown>)[name], value));
}

function differs(found: unknown, wanted: unknown): Error {
  const cause = causeIn(found);
  return new Error(`found ${short(found)}, expected ${short(wanted)}`, cause === undefined ? {} : { cause });
}

/** The reason that an outcome, or one of several, carries. */
function causeIn(found: unknown): unknown {
  const causes = [found].flat().map((one) => (one as { readonly cause?: unknown } | undefined)?.cause);
  return causes.find((cause) => cause !== undefined);
}

function short(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = inspect(value, { depth: 2, breakLength: Infinity, maxArrayLength: 8, maxStringLength: 80 });
  return text.replaceAll('\n', ' ');
}
