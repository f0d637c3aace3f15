// Text and tables as HTML: tables have caption and headers for screen readers, and scroll on narrow
// screens.
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
}

export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
}

export interface Table {
  readonly caption: string;
  readonly columns: readonly Column[];
  /** HTML, a cell for each column; the first is the row's header. */
  readonly rows: readonly (readonly string[])[];
  /** On a phone a row is a card of lines with their columns' titles: for few rows. */
  readonly isCards?: boolean;
}

/** The table in a region of its own that the keyboard can scroll. */
export function tableHtml({ caption, columns, rows, isCards = false }: Table): string {
  const head = columns.map(({ title, isNumber }) => `<th scope="col"${rightIf(isNumber)}>${escape(title)}</th>`);
  const body = rows.map((row) => `<tr>${row.map((text, at) => cellHtml(text, at, columns[at])).join('')}</tr>`);
  return `<div class="scroll" role="region" aria-label="${escape(caption)}" tabindex="0"><table${isCards ? ' class="cards"' : ''}><caption>${escape(caption)}</caption>
<thead><tr>${head.join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`;
}

function cellHtml(text: string, at: number, column: Column | undefined): string {
  if (at === 0) return `<th scope="row">${text}</th>`;
  return `<td${rightIf(column?.isNumber)} data-title="${escape(column?.title ?? '')}">${text}</td>`;
}

function rightIf(isNumber: boolean | undefined): string {
  return isNumber === true ? ' class="n"' : '';
}
