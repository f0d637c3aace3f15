// Plain text for terminals: tables in columns, sentences in lines.

const COLUMNS_MAX = 110;

/** The first `leftColumns` columns are text, the rest numbers. */
export function textTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  leftColumns: number,
): string {
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, at) => (at < leftColumns ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')}`.trimEnd();
  return [line(header), ...rows.map(line)].join('\n');
}

/** In lines of at most 110 columns. */
export function wrapped(text: string): string[] {
  return text.match(new RegExp(`.{1,${COLUMNS_MAX}}(?= |$)`, 'g'))?.map((line) => line.trim()) ?? [];
}
