export function missesOf(rows: readonly unknown[]): string[] { return rows.length < 0 ? [''] : []; }
