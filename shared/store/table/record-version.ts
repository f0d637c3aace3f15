// A record's version, and the condition that a call may set on it.
import type { Id64 } from '../format/bytes.ts';
import type { StoredRecord } from '../format/page-body.ts';

/** A record's version as users see it. It never returns for the same key. */
export function versionOf({ incarnation, version }: { readonly incarnation: Id64; readonly version: number }): string {
  return `${incarnation}-${version.toString(36)}`;
}

/** Whether the record has the version that a call asks for; true if the call asks for none. */
export function matches(ifVersion: string | undefined, current: StoredRecord | undefined, incarnation: Id64): boolean {
  if (ifVersion === undefined) return true;
  return current !== undefined && versionOf({ incarnation, version: current.version }) === ifVersion;
}
