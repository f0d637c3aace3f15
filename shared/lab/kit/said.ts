// Sentences that depend on facts, as `isCold && 'it was cold'`.

/** Keeps the lines that are to be said. */
export function said(...lines: readonly (string | false)[]): string[] {
  return lines.filter((line) => line !== false);
}
