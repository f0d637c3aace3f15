// Damages stored containers through any driver, and tells which records that may cost.
import type { Driver, Entity, EntityId, PartName, Write } from '../../shared/store/contract/driver.ts';
import { layersOf } from '../../shared/store/container/layers.ts';
import { pageOf } from '../../shared/store/container/snapshot.ts';
import { nodesPrefix, pagePart, rootId } from '../../shared/store/format/entity-ids.ts';
import { recordsOf } from '../../shared/store/format/page-body.ts';
import { decodeKey } from '../../shared/store/format/position.ts';
import type { MemoryState } from '../../shared/drivers/memory.ts';
import { leavesOf } from './rules/tree-of.ts';
import { flipped, World } from './rules/world.ts';

const CALL = { timeoutMs: 60_000 };

/** Draws from a seed, so that a failing test fails again. */
export function picker(seed: number): <T>(items: readonly T[]) => T {
  let state = seed;
  return (items) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return items[Math.floor((state / 2 ** 32) * items.length)]!;
  };
}

/** Another world with the same stored containers, which are made once for many tests. */
export function copyOf({ state, limits }: World): World {
  // Another seed, as it would draw the ids of these containers again.
  const copy = new World({ limits, seed: 2 });
  Object.assign(copy.state, { entities: new Map(state.entities), versionCount: state.versionCount });
  return copy;
}

/** All containers of a table as they are stored. */
export async function storedEntities(driver: Driver, table: string): Promise<Entity[]> {
  const ids = [rootId(table)];
  let page = await driver.list(nodesPrefix(table), undefined, driver.limits.listMax, CALL);
  for (;;) {
    ids.push(...page.ids);
    if (page.cursor === undefined) break;
    page = await driver.list(nodesPrefix(table), page.cursor, driver.limits.listMax, CALL);
  }
  const found = await Promise.all(ids.map((id) => driver.read([{ id, parts: 'all' }], CALL)));
  return found.flatMap(([entity]) => (entity === undefined ? [] : [entity]));
}

export type Edit = 'flipped' | 'cut' | 'zeroed' | 'dropped' | 'swapped' | 'removed';
export const EDITS: readonly Edit[] = ['flipped', 'cut', 'zeroed', 'dropped', 'swapped', 'removed'];

export interface Damage {
  readonly id: EntityId;
  readonly part: PartName;
  readonly edit: Edit;
}

/** `other` is swapped in; without it that part is dropped. */
function edited(bytes: Uint8Array, edit: Edit, other: Uint8Array | undefined): Uint8Array {
  const copy = Buffer.from(bytes);
  if (edit === 'flipped') return flipped(bytes);
  if (edit === 'cut') return copy.subarray(0, copy.length >> 1);
  if (edit === 'zeroed') return copy.fill(0);
  if (edit === 'dropped') return Buffer.alloc(0);
  return edit === 'swapped' ? (other ?? Buffer.alloc(0)) : copy;
}

/** Changes one part of a container, or removes the container. */
export async function damage(
  driver: Driver,
  entities: readonly Entity[],
  { id, part, edit }: Damage,
  from?: EntityId,
): Promise<void> {
  const { version, parts } = entities.find((entity) => entity.id === id)!;
  if (edit === 'removed') {
    await driver.remove([{ id, version }], CALL);
    return;
  }
  const other = entities.find((entity) => entity.id === from)?.parts.get(part);
  const left = [...parts]
    .map(([name, bytes]) => ({ name, bytes: name === part ? edited(bytes, edit, other) : bytes, chunksBefore: 0 }))
    .filter(({ bytes }) => bytes.length > 0);
  const write: Write = { kind: 'replace', id, version, parts: left };
  const [outcome] = await driver.write([write], CALL);
  if (outcome?.kind !== 'written') throw new Error(`the damage was not done: ${JSON.stringify(outcome)}`);
}

/** The place of each key's newest record. Only damage there may cost it. */
export function placesOf(entities: readonly Entity[], table: string): Map<string, Pick<Damage, 'id' | 'part'>> {
  const state = { entities: new Map(entities.map((entity) => [entity.id, entity])) } as unknown as MemoryState;
  const places = new Map<string, Pick<Damage, 'id' | 'part'>>();
  for (const leaf of leavesOf(state, table))
    for (const layer of layersOf(leaf.header))
      for (const ref of layer)
        for (const { key } of recordsOf(pageOf(leaf, ref, table)))
          places.set(decodeKey(key), { id: leaf.id, part: pagePart(ref.slot) });
  return places;
}
