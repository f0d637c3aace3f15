// Spreads ids over a provider's key space. It is part of what is stored: it never changes.

/** FNV-1a, 32 bits, of an id's ASCII characters. FORMAT.md, "Hash of an id". */
export function hashOfId(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
