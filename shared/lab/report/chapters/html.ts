// The report as one self-contained HTML page, without script.
import { escape, tableHtml } from '../../kit/html.ts';
import { factor, said } from '../../kit/format.ts';
import { columnsOf, noteHtml, page } from '../html-parts.ts';
import { machineWords, ranWords, versionWords } from '../names.ts';
import {
  type ChaptersReport,
  type FigureTable,
  isWhole,
  problemsOf,
  type Result,
  type Row,
  type WordTable,
} from './schema.ts';
import { type Cell, columnName, type Sheet, sheetsOf } from './sheets.ts';

export function chaptersHtml(report: ChaptersReport): string {
  const body = [header(report), findings(report), ...report.results.map(section), footer(report)].join('\n');
  return page(`Stowage: ${report.title}`, body, STYLE);
}

const STYLE = `
:root { --good: #1d7a46; }
@media screen and (prefers-color-scheme: dark) { :root { --good: #6fcf97; } }
.question { font-size: 17px; margin: 2px 0 4px; } .verdict { font-weight: 600; } .holds { color: var(--good); } .does-not-hold, .bad, .changed { color: var(--red); } .open, .same { color: var(--soft); }
td b { display: block; } td.n > small, tbody th { white-space: normal; max-width: none; } .fidelity th, .fidelity td { font-size: 11px; padding: 4px 3px; white-space: normal; } .fidelity .changed { overflow-wrap: anywhere; } .fidelity .same { white-space: nowrap; }
@media (max-width: 640px) { .cards td:empty, .cards td small + small { display: none; } .fidelity td { font-size: 13px; } .fidelity td:has(.same) { display: none; } }
`;

function header(report: ChaptersReport): string {
  const [first = '', ...others] = report.lead;
  const [title, why] =
    report.endedEarly === null
      ? ['Something failed', 'The chapters say what, and hold what was measured.']
      : ['Ended early', report.endedEarly];
  return `<header>
<h1>Stowage: ${escape(report.title)}</h1>
<p>${escape(`${first} Begun ${ranWords(report.ran)} on ${machineWords(report.ran.coordinator)}.`)}</p>
${isWhole(report) ? '' : noteHtml(title, [why], 'warning')}${noteHtml('Read first', others, 'fact')}
</header>`;
}

function findings({ results }: ChaptersReport): string {
  const all = results.flatMap(({ id, chapter }) => (chapter?.findings ?? []).map((finding) => ({ id, ...finding })));
  if (all.length === 0) return '';
  const holding = all.filter(({ verdict }) => verdict === 'holds').length;
  const items = all.map(
    ({ id, verdict, text }) =>
      `<b>${id.toUpperCase()}</b> <span class="verdict ${verdict.replaceAll(' ', '-')}">${verdict}</span> ${escape(text)}`,
  );
  return `<section><h2>Findings: ${holding} of ${all.length} hold</h2>${list(items)}</section>`;
}

/** Empty without items, which are HTML. */
function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${item}</li>`).join('\n')}</ul>`;
}

function section(result: Result): string {
  const { id, chapter, question, title, source } = result;
  const limits = list((chapter?.cannotShow ?? []).map(escape));
  return said(
    `<section id="${id}"><h2>${id.toUpperCase()}. ${escape(title)}</h2>`,
    `<p class="question">${escape(question)}</p>`,
    source !== null &&
      `<p class="words">Then: <i>${escape(source.title)}</i>, ${source.year}, ${escape(source.platform)}.</p>`,
    noteHtml('Not everything was measured', problemsOf(result), 'warning'),
    ...(chapter?.tables ?? []).map(figuresHtml),
    ...(chapter?.wordTables ?? []).map(wordsHtml),
    limits !== '' && `<h3>What an emulator cannot show</h3>${limits}`,
    '</section>',
  ).join('\n');
}

function figuresHtml(table: FigureTable): string {
  const sheets = sheetsOf(table).map((sheet) => sheetHtml(table, sheet));
  return [`<h3>${escape(table.title)}</h3><p class="words">${escape(table.about)}</p>`, ...sheets].join('\n');
}

function sheetHtml({ rows: all }: FigureTable, { caption, columns, rows }: Sheet): string {
  const better = [...new Set(columns.map((one) => one.better))].join(' or ');
  return tableHtml({
    caption: `${caption} (${better} is better)`,
    columns: columnsOf(['Variant'], columns.map(columnName)),
    rows: rows.map(({ row, cells }) => [nameHtml(row, all), ...cells.map(cellHtml)]),
    isCards: true,
  });
}

/** Several baselines are named. */
function nameHtml({ id, name, standIn, marks = [], against }: Row, rows: readonly Row[]): string {
  const baseline = new Set(rows.map((row) => row.against)).size > 1 && rows.find((row) => row.id === against)?.name;
  const smalls = said(
    standIn !== undefined && `now: ${standIn}`,
    id === against ? 'baseline' : typeof baseline === 'string' && `against ${baseline}`,
    ...marks,
  );
  return [escape(name), ...smalls.map((small) => `<small>${escape(small)}</small>`)].join('');
}

function cellHtml({ ratio, text, spread }: Cell): string {
  return said(
    ratio !== undefined && `<b>${factor(ratio)}</b>`,
    text !== '' && `<small${text === 'failed' ? ' class="bad"' : ''}>${escape(text)}</small>`,
    spread !== undefined && `<small>${escape(spread)}</small>`,
  ).join('');
}

function wordsHtml({ title, about, columns, rows }: WordTable): string {
  const table = tableHtml({
    caption: title,
    columns: columnsOf(['', ...columns], []),
    rows: rows.map((row) => [escape(row.name), ...row.cells.map(wordHtml)]),
    isCards: true,
  });
  return `<h3>${escape(title)}</h3><p class="words">${escape(about)}</p><div class="fidelity">${table}</div>`;
}

function wordHtml(text: string): string {
  return `<span class="${text === 'same' ? 'same' : 'changed'}">${escape(text)}</span>`;
}

function footer({ ran, notes }: ChaptersReport): string {
  return `<section><h2>How to read this</h2>${list(notes.map(escape))}
<p class="words">Versions: ${escape(versionWords(ran.versions))}. The same figures are in the JSON file beside this page.</p></section>`;
}
