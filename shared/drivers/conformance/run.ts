// Runs checks one after another on a driver, tells which promises are broken, and removes what the
// checks have written.
import type { Driver, EntityId } from '../../store/contract/driver.ts';
import { CALL, freshPrefix } from './calls.ts';
import type { Around, Check } from './check.ts';

export interface Broken {
  readonly check: string;
  /** What was found in place of what was expected, in a line. */
  readonly why: string;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Begins the ids of a check. Default: a fresh one for each. */
  readonly prefixOf?: (check: Check) => EntityId;
  /** Called before each check. */
  readonly onCheck?: (check: Check) => void;
}

/** The promises that are broken. Rejects with the signal's reason once that has aborted. */
export async function brokenAmong(
  checks: readonly Check[],
  driver: Driver,
  around: Around,
  { signal, prefixOf = freshPrefix, onCheck = () => {} }: RunOptions = {},
): Promise<Broken[]> {
  const broken: Broken[] = [];
  for (const check of checks) {
    signal?.throwIfAborted();
    onCheck(check);
    try {
      await check.run(driver, prefixOf(check), around);
    } catch (error) {
      signal?.throwIfAborted();
      broken.push({ check: check.name, why: reasonOf(error) });
    }
  }
  return broken;
}

/** Removes all entities whose ids begin so. Rejects if one is left. */
export async function removeAll(driver: Driver, prefix: string): Promise<void> {
  const { listMax } = driver.limits;
  for (let cursor; ;) {
    const page = await driver.list(prefix, cursor, listMax, CALL);
    for (const lane of Map.groupBy(page.ids, (id) => driver.limits.lane(id)).values()) await removeSome(driver, lane);
    ({ cursor } = page);
    if (cursor === undefined) return;
  }
}

async function removeSome(driver: Driver, ids: readonly EntityId[]): Promise<void> {
  const { readsMax, writesMax } = driver.limits;
  const removals = [];
  for (let first = 0; first < ids.length; first += readsMax) {
    const asked = ids.slice(first, first + readsMax).map((id) => ({ id, parts: [] }));
    for (const entity of await driver.read(asked, CALL)) if (entity !== undefined) removals.push(entity);
  }
  for (let first = 0; first < removals.length; first += writesMax) {
    const some = removals.slice(first, first + writesMax).map(({ id, version }) => ({ id, version }));
    const left = (await driver.remove(some, CALL)).find(({ kind }) => kind !== 'removed');
    if (left !== undefined) throw new Error(`an entity was not removed: ${reasonOf(left)}`);
  }
}

/** As much as a line of a report holds. */
const REASON_CHARS_MAX = 400;
/** Errors repeat the beginning of what caused them. */
const REPEATED_CHARS = 60;

interface Told {
  readonly message?: string;
  readonly reason?: string;
  readonly cause?: unknown;
}

/** Why an outcome or error came about, in a line, with those of its causes that add something. */
export function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let at = error as Told | undefined; at !== undefined; at = at.cause as Told | undefined) {
    const text = (at.message ?? (at.cause === undefined ? at.reason : '') ?? '').replaceAll(/\s+/g, ' ');
    if (!messages.some((one) => one.includes(text.slice(0, REPEATED_CHARS)))) messages.push(text);
  }
  return messages.filter(Boolean).join(': ').slice(0, REASON_CHARS_MAX);
}
