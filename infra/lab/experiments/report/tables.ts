// Tables of the report as HTML: the ratio first, the figure itself below it. On a phone each row is a card.
import { escape } from '../../../../shared/lab/kit/html.ts';
import { figureText, ratioText } from './numbers.ts';
import type { ReportChapter, ReportTable } from './schema.ts';
import { colourName, columnName, measuresOf, type ReportColumn } from './series.ts';

type ReportRow = ReportTable['rows'][number];

export function figuresHtml(table: ReportTable): string {
  const measures = measuresOf(table).map((measure) => table.columns.filter((column) => column.measure === measure));
  const ordered = measures.flat();
  const groups = measures.map(
    (columns) => `<th class="group" colspan="${columns.length}">${escape(columns[0]!.measure)}</th>`,
  );
  const heads = measures.flatMap((columns) =>
    columns.map((column, at) => `<th class="n${at === 0 ? ' first' : ''}">${headOf(table, column)}</th>`),
  );
  const firsts = new Set(measures.map((columns) => columns[0]!.id));
  const rows = table.rows.map(
    (row) =>
      `<tr><th scope="row">${nameOf(row, table)}</th>${ordered.map((column) => cell(row, column, firsts.has(column.id))).join('')}</tr>`,
  );
  return `<div class="scroll" role="region" aria-label="${escape(table.title)}" tabindex="0"><table class="figures"><thead><tr><th rowspan="2">Variant</th>${groups.join('')}</tr><tr>${heads.join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`;
}

function headOf(table: ReportTable, column: ReportColumn): string {
  return `<span class="${column.era}"><i class="chip" style="background:var(--${colourName(table, column)})"></i></span>${escape(columnName(column))}`;
}

function nameOf({ id, name, standIn, marks, against }: ReportRow, { rows }: ReportTable): string {
  const baseline = id === against ? undefined : rows.find((row) => row.id === against)?.name;
  const several = new Set(rows.map((row) => row.against)).size > 1;
  return [
    escape(name),
    standIn === undefined ? '' : `<small>now: ${escape(standIn)}</small>`,
    id === against ? '<small>baseline</small>' : '',
    several && baseline !== undefined ? `<small>against ${escape(baseline)}</small>` : '',
    ...(marks ?? []).map((mark) => `<small class="mark">${escape(mark)}</small>`),
  ].join('');
}

function cell(row: ReportRow, column: ReportColumn, isFirst: boolean): string {
  const figure = row.figures[column.id];
  const ratio = row.ratios[column.id];
  const { main, spread } = figureText(figure, column.unit);
  const title = `${column.measure}, ${columnName(column)}`;
  const classes = ['n', ...(isFirst ? ['first'] : []), ...(main === '-' ? ['none'] : [])].join(' ');
  const open = `<td class="${classes}" data-title="${escape(title)}">`;
  if (figure !== undefined && 'failed' in figure)
    return `${open}<b class="bad" title="${escape(figure.failed)}">failed</b></td>`;
  if (figure !== undefined && 'missing' in figure) return `${open}<small>${escape(figure.missing)}</small></td>`;
  const times = ratio === undefined ? '' : `<b>${ratioText(ratio)} &times;</b>`;
  const range = spread === '' ? '' : `<small class="spread">${unbroken(spread)}</small>`;
  return `${open}${times}<small>${unbroken(main)}</small>${range}</td>`;
}

/** A unit stays with its number. */
function unbroken(text: string): string {
  return escape(text).replace(/ (?=\S+$)/, '&nbsp;');
}

/** On a phone a row lists only what does not come back the same. */
export function wordsHtml({ title, about, columns, rows }: ReportChapter['wordTables'][number]): string {
  const lines = rows.map(({ name, cells }) => {
    const texts = cells.map((text, at) => wordCell(text, columns[at] ?? ''));
    return `<tr><th scope="row">${escape(name)}</th>${texts.join('')}</tr>`;
  });
  return `<h3>${escape(title)}</h3><p class="words">${escape(about)} <span class="on-phone">Each format lists what does not come back the same.</span></p>
<div class="scroll" role="region" aria-label="${escape(title)}" tabindex="0"><table class="words-table"><thead><tr><th></th>${columns.map((column) => `<th>${escape(column)}</th>`).join('')}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>`;
}

function wordCell(text: string, column: string): string {
  return `<td class="${text === 'same' ? 'same' : 'changed'}" data-title="${escape(column)}">${escape(text)}</td>`;
}
