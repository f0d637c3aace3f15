// The hash by which drivers spread ids over a provider's key space. It is part of what is stored: it never changes.

/** FNV-1a, 32 bits: a cheap fixed function of an id. Stored data depends on it; it never changes. */
export function hashOfId(id: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < id.length; place += 1) hash = Math.imul(hash ^ id.charCodeAt(place), 0x01000193);
  return hash >>> 0;
}
