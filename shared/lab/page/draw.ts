// Draws a report, whole or unfinished, into the page. Parts that a reader unfolded stay open.
import { LAYOUTS } from '../kit/dimensions.ts';
import { failureWords, LAYOUT_WORDS, PROVIDER_NAMES, ranWords, recordWords } from '../report/names.ts';
import type { Report } from '../report/report-schema.ts';
import { leftOutWords, whereWords } from '../report/warnings.ts';
import { BILL, curvesOf, GLYPHS, MEASURES, type Row, rowsOf } from './curves.ts';
import { byId, element, say } from './dom.ts';
import {
  againstParts,
  cellTables,
  cloudTable,
  comparisonTable,
  placeWords,
  searchParts,
  tableId,
} from './page-tables.ts';

let rows: readonly Row[] = [];

export function draw(report: Report): void {
  byId('report').hidden = false;
  say('where', whereWords(report));
  say('troubles', troublesOf(report).join('\n'));
  byId('legend').replaceChildren(...legendOf(report));
  rows = rowsOf(report);
  byId('rows').replaceChildren(...rows.map(rowElement));
  drawCurves();
  byId('clouds').replaceChildren(...cloudTable(report));
  fold('figures', 'Every figure', cellTables(report));
  fold('comparisons', 'Comparisons and verdicts', comparisonTable(report));
  fold('goals', 'Goals', listOf(report.goals.map(({ text, isMet }) => `${isMet ? 'met' : 'missed'}: ${text}`)));
  fold('searches', 'Highest rates that hold a latency', searchParts(report));
  fold('against', 'Against an earlier report', againstParts(report));
  const failed = report.failures.map((failure) => `Failed: ${failureWords(failure)}`);
  const warnings = [...report.warnings, ...failed, ...leftOutWords(report.leftOut)];
  fold('warnings', 'Warnings, and what is left out', listOf(warnings));
  fold('places', 'Where it ran', listOf(placeWords(report)));
  fold('repeat', 'Repeat it', repeatParts(report));
}

/** Draws the curves anew: by another measure, or at another width. */
export function drawCurves(): void {
  const chosen = document.querySelector<HTMLInputElement>('input[name=measure]:checked')?.value;
  const first = MEASURES.find(({ name }) => name === chosen) ?? MEASURES[0]!;
  for (const row of rows)
    for (const [at, measure] of [first, BILL].entries()) {
      const figure = byId(`${row.id}-${at}`);
      const width = Math.max(240, figure.clientWidth);
      figure.replaceChildren(
        element('figcaption', {}, `${measure.label(row.units)}, over callers`),
        curvesOf(row, measure, width, width < NARROW_PX ? 150 : 118),
      );
    }
}

/** Below it the panels stand under their sentence, and there is room for higher ones. */
const NARROW_PX = 380;

function rowElement(row: Row): HTMLElement {
  const link = element('a', { href: `#${tableId(row.cells[0]!)}` }, 'Figures');
  link.addEventListener('click', () => {
    byId('figures').setAttribute('open', '');
  });
  return element(
    'section',
    { class: 'row', 'aria-label': row.title },
    element('div', {}, element('h2', {}, row.title), element('p', {}, ...boldened(row.sentence), ' ', link)),
    element('figure', { id: `${row.id}-0` }),
    element('figure', { id: `${row.id}-1` }),
  );
}

/** Bold: how many times as much, and what share of the bill. */
function boldened(sentence: string): (Node | string)[] {
  const parts = sentence.split(/([\d.,]+ times|[\d.,]+ of (?:its bill|their bill|it\b)|as many|the same bill)/);
  return parts.map((part, at) => (at % 2 === 1 ? element('b', {}, part) : part));
}

function legendOf({ cells }: Pick<Report, 'cells'>): HTMLElement[] {
  const layouts = LAYOUTS.filter((layout) => cells.some((cell) => cell.layout === layout));
  return [
    ...layouts.map((layout) => {
      const glyph = element('span', { class: 'glyph', style: `color: var(--${layout})`, 'aria-hidden': 'true' });
      glyph.textContent = GLYPHS[layout];
      return element('span', {}, glyph, element('b', {}, layout), ` ${LAYOUT_WORDS[layout]}`);
    }),
    ...(cells.some(({ isMachineLimited }) => isMachineLimited)
      ? [element('span', {}, element('span', { class: 'glyph' }, '○'), 'hollow: the machine was the limit')]
      : []),
  ];
}

/** What must not be overlooked: an early end, failures, and data that is still billed. */
function troublesOf({ endedEarly, failures, leftovers }: Report): string[] {
  return [
    ...(endedEarly === null ? [] : [`Not whole: ${endedEarly}.`]),
    ...(failures.length === 0
      ? []
      : [`Runs that failed: ${failures.length}. The last: ${failureWords(failures.at(-1)!)}`]),
    ...leftovers.map(
      ({ provider, dataset, error }) => `Not removed, it is billed: ${PROVIDER_NAMES[provider]}, ${dataset}: ${error}`,
    ),
  ];
}

function repeatParts(report: Report): HTMLElement[] {
  const { plan, command } = report;
  const runs = `Plan "${plan.name}", ${recordWords(plan)}, runs of each cell: ${plan.repetitions}, seed ${plan.seed}. Begun ${ranWords(report)}.`;
  return [
    element('p', {}, runs),
    ...(command === null ? [] : [element('pre', {}, command)]),
    element('p', {}, 'Its plan, for a file that npm start or stowage compare is given:'),
    element('pre', {}, JSON.stringify(plan, undefined, 2)),
  ];
}

function listOf(texts: readonly string[]): HTMLElement[] {
  return texts.length === 0 ? [] : [element('ul', {}, ...texts.map((text) => element('li', {}, text)))];
}

/** A part that is folded until somebody unfolds it; hidden where it has no content. */
function fold(id: string, title: string, content: readonly HTMLElement[]): void {
  const known = document.getElementById(id);
  const made = known ?? element('details', { id }, element('summary', {}, title), element('div'));
  if (known === null) byId('folded').append(made);
  made.lastElementChild!.replaceChildren(...content);
  made.hidden = content.length === 0;
}
