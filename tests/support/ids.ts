// Ids as tests write them down: the strings they are, given their types.
import type { EntityId, EntityVersion, PartName } from '../../shared/store/contract/driver.ts';
import type { Id64 } from '../../shared/store/format/bytes.ts';

export function entityId(id: string): EntityId {
  return id as EntityId;
}

export function entityVersion(version: string): EntityVersion {
  return version as EntityVersion;
}

export function partName(name: string): PartName {
  return name as PartName;
}

/** Takes 16 hexadecimal digits. */
export function hexId(digits: string): Id64 {
  return digits as Id64;
}
