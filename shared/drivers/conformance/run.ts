// The driver contract as checks, the same for every driver. Runs them one after another, reports
// the promises that are broken, and removes the entities that they wrote.
import type { Driver, EntityId } from '../../store/contract/driver.ts';
import { type Around, CALL, type Check, freshPrefix } from './check-calls.ts';
import { CLOSE, LIST, REQUESTS } from './request-checks.ts';
import { PARTS, SINGLE } from './entity-checks.ts';

/** Checks whose requests are small, and always the same for the same ids. */
export const RECORDED: readonly Check[] = [
  ...SINGLE,
  ...REQUESTS.filter(({ name }) => !name.startsWith('a request takes')),
  ...LIST.filter(({ name }) => name.startsWith('an id that was removed')),
];

/** What matters most to a store. Without listings, it takes half a minute against a service. */
export const SHORT: readonly Check[] = [...SINGLE, ...PARTS, ...REQUESTS];

export const CONFORMANCE: readonly Check[] = [...SHORT, ...LIST, ...CLOSE];

export interface Broken {
  readonly check: string;
  /** In one line: what was found, and what was expected. */
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

/** The longest reason that a line of a report shows. */
const REASON_CHARS_MAX = 400;
/** An error often repeats its cause's message: of two that begin alike one is told. */
const REPEATED_CHARS = 60;

interface Told {
  readonly message?: string;
  readonly reason?: string;
  readonly cause?: unknown;
}

/** The reason of an outcome or error in one line, with the causes that add something. */
export function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let at = error as Told | undefined; at !== undefined; at = at.cause as Told | undefined) {
    const text = (at.message ?? (at.cause === undefined ? at.reason : '') ?? '').replaceAll(/\s+/g, ' ');
    if (!messages.some((one) => one.includes(text.slice(0, REPEATED_CHARS)))) messages.push(text);
  }
  return messages.filter(Boolean).join(': ').slice(0, REASON_CHARS_MAX);
}
