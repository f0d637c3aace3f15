// The report as one self-contained HTML page: a chapter a document, SVG charts and tables, no script, nothing loaded from anywhere.
import { escape } from '../../../../shared/lab/kit/html.ts';
import { figure, page } from '../../../../shared/lab/report/html-parts.ts';
import { ratioChart } from './charts.ts';
import { type ExperimentsReport, isWhole, type ReportChapter, type ReportResult, type ReportTable } from './schema.ts';
import { colourName, columnName, hasRatios, measuresOf, type ReportColumn } from './series.ts';
import { EXPERIMENTS_STYLE } from './style.ts';
import { figuresHtml, wordsHtml } from './tables.ts';

/** The whole document. */
export function experimentsHtml(report: ExperimentsReport): string {
  const body = [header(report), findings(report), ...report.results.map(section), footer(report)].join('\n');
  return page(`Stowage: five documents run again, ${report.startedAt.slice(0, 10)}`, body, EXPERIMENTS_STYLE);
}

function header(report: ExperimentsReport): string {
  const { startedAt, durationMs, machine, endedBy } = report;
  const memory = Math.round(machine.memoryBytes / 2 ** 30);
  const early = endedBy === null ? '' : `<p class="caveat warning">Ended early: ${escape(endedBy)}.</p>`;
  const broken =
    isWhole(report) || endedBy !== null
      ? ''
      : '<p class="caveat warning">Something failed: the chapters say what, and hold what was measured.</p>';
  return `<header>
<h1>Stowage: five documents run again</h1>
<p>Between 2007 and 2011 five documents measured how to serialize, how to batch, how many connections to open, few large or many small, and what a
dollar buys. Here the same questions with the same inputs, then beside now. Started ${escape(startedAt.replace('T', ' ').slice(0, 16))} UTC, took ${Math.round(durationMs / 1_000)} s
on ${machine.cores} cores, ${escape(machine.cpu)}, ${memory} GiB, ${escape(machine.platform)}, Node.js ${escape(machine.node)}.</p>
${early}${broken}
<p class="caveat">Then were services, computers and languages of their day; now are <b>emulators on one machine</b>. So only <b>ratios</b> are compared: each variant
against its own document's baseline, then and now apart. The figures themselves stand below them in small type.</p>
</header>`;
}

function findings({ results }: ExperimentsReport): string {
  const items = results.flatMap(({ id, chapter }) =>
    (chapter?.findings ?? []).map((finding) => `<li><b>${id.toUpperCase()}</b> ${findingHtml(finding)}</li>`),
  );
  if (items.length === 0) return '';
  return `<section><h2>What still holds, and what does not</h2><ul class="findings">${items.join('\n')}</ul></section>`;
}

function findingHtml({ verdict, text }: ReportChapter['findings'][number]): string {
  return `<span class="verdict ${verdict.replaceAll(' ', '-')}">${verdict}</span> ${escape(text)}`;
}

function section(result: ReportResult): string {
  const { id, chapter, question, title, problems } = result;
  const trouble =
    problems.length === 0
      ? ''
      : `<div class="caveat failed"><b>Not everything was measured</b><ul>${problems.map((line) => `<li>${escape(line)}</li>`).join('')}</ul></div>`;
  const body = chapter === null ? '' : chapterHtml(chapter);
  return `<section class="chapter" id="${escape(id)}"><h2>${id.toUpperCase()}. ${escape(title)}</h2>
<p class="question">${escape(question)}</p>${trouble}
${body}</section>`;
}

function chapterHtml({ source, tables, wordTables, cannotShow, findings: found }: ReportChapter): string {
  const from = `<p class="words">Then: <i>${escape(source.title)}</i>, ${source.year}, ${escape(source.platform)}.</p>`;
  const limits =
    cannotShow.length === 0
      ? ''
      : `<h3>What an emulator cannot show</h3><ul>${cannotShow.map((line) => `<li>${escape(line)}</li>`).join('')}</ul>`;
  const paragraph =
    found.length === 0
      ? ''
      : `<h3>What still holds, and what does not</h3><p class="paragraph">${found.map(findingHtml).join(' ')}</p>`;
  return [from, ...tables.map(tableHtml), ...wordTables.map(wordsHtml), limits, paragraph].join('\n');
}

function tableHtml(table: ReportTable): string {
  const charts = (table.charted ?? measuresOf(table)).map((measure) => chartOf(table, measure));
  const notes = (table.notes ?? []).map((note) => `<p class="words note">${escape(note)}</p>`);
  return `<h3>${escape(table.title)}</h3><p class="words">${escape(table.about)}</p>
${figuresHtml(table)}
${notes.join('\n')}
${charts.join('\n')}`;
}

function chartOf(table: ReportTable, measure: string): string {
  const columns = table.columns.filter((column) => column.measure === measure);
  if (!hasRatios(table, columns)) return '';
  const better = [...new Set(columns.map((column) => column.better))].join(' or ');
  return `<h4>${escape(measure)}, as a multiple of the baseline (logarithmic; ${better} is better)</h4>
<p class="legend">${columns.map((column) => key(table, column)).join(' ')}</p>
${figure((shape) => ratioChart(table, columns, shape), `${table.title}: ${measure} as multiples of the baseline`)}`;
}

function key(table: ReportTable, column: ReportColumn): string {
  return `<span class="key ${column.era}"><i class="chip" style="background:var(--${colourName(table, column)})"></i>${escape(columnName(column))}</span>`;
}

function footer({ versions }: ExperimentsReport): string {
  const packages = Object.entries(versions).map(([name, version]) => `${escape(name)} ${escape(version)}`);
  return `<section><h2>How to read this</h2><ul>
<li>A ratio is a row's mean over its baseline's, within one column. Ratios of then and of now may be set beside each other; times and rates may not.</li>
<li>Of several runs the lowest and the highest stand below the mean. "-": not printed then, or nothing to measure.</li>
<li>Where a variant of then does not exist any more, the row names what was measured now in its place.</li>
<li>A column marked "model" is calculated from a model of a cloud, not measured.</li></ul>
<p class="words">Versions: ${packages.join(', ')}. The same figures are in experiments.json.</p></section>`;
}
