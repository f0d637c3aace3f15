// Writes figures into tests/RELIABILITY.md, each between the marks of its section, so that nobody copies them by hand.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const PAGE = fileURLToPath(new URL('../RELIABILITY.md', import.meta.url));

/** Puts Markdown in place of what the section held. Throws if the page has no such section. */
export async function writeFigures(section: string, markdown: string): Promise<void> {
  const page = readFileSync(PAGE, 'utf8');
  const marks = new RegExp(`(<!-- generated: ${section}\\b.*? -->\\n).*?(<!-- end -->)`, 's');
  if (!marks.test(page)) throw new Error(`RELIABILITY.md has no section "${section}"`);
  const written = page.replace(marks, (_, begin: string, end: string) => `${begin}\n${markdown}\n\n${end}`);
  writeFileSync(PAGE, await format(written, { ...(await resolveConfig(PAGE)), filepath: PAGE }));
}

/** A table in Markdown. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map(lineOf).join('\n');
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
