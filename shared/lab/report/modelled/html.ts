// The model's report as one self-contained HTML page, in the comparison's style: no script, nothing loaded from anywhere.
import { escape } from '../../kit/html.ts';
import { tableHtml } from '../../kit/html-table.ts';
import { MODEL_LAYOUTS } from '../../kit/dimensions.ts';
import { figure, mark, page } from '../html-parts.ts';
import { PROVIDER_NAMES, PROVIDER_SHORT_NAMES } from '../names.ts';
import { type Figure, groupChart } from './charts.ts';
import { COLUMN_WORDS, COLUMNS, decimalOr } from './columns.ts';
import { goalsTitle } from './goals.ts';
import { MODEL_WORDS, type ModelReport, type ModelReportCell } from './report.ts';

const CHARTS: Readonly<Record<string, readonly Figure[]>> = {
  'Throughput, records a second (logarithmic)': [{ of: (cell) => cell.operationsPerSecond }],
  'Latency, milliseconds (logarithmic): p50, and p99 dashed': [
    { of: (cell) => cell.p50Ms },
    { of: (cell) => cell.p99Ms, lineType: 'dashed', isLabelled: false },
  ],
  'Requests a record, and billed operations dashed (logarithmic)': [
    { of: (cell) => cell.requestsPerOperation },
    { of: (cell) => cell.billedPerOperation, lineType: 'dashed', isLabelled: false },
  ],
};

/** The whole document. */
export function modelHtml(report: ModelReport): string {
  const groups = [...Map.groupBy(report.cells, ({ group }) => group)];
  const body = [
    header(report),
    goals(report),
    ...groups.map(([title, cells]) => groupSection(report, title, cells)),
    parameters(report),
    footer(report),
  ];
  return page(`Stowage: model of the clouds, plan ${report.plan}`, body.join('\n'));
}

function header({ plan, seed, processor, clouds }: ModelReport): string {
  const items = clouds.map(
    ({ provider, name, date }) =>
      `<li><b>${PROVIDER_NAMES[provider]}</b>: modelled after ${escape(name)}, sources of ${escape(date)}</li>`,
  );
  const costs =
    processor === null
      ? 'not modelled: operations cost none'
      : `costs measured on ${escape(processor.measured)}, ${escape(processor.cpu)}, Node.js ${escape(processor.node)}`;
  return `<header>
<h1>Stowage: a model of the clouds</h1>
<p class="caveat warning"><b>${escape(MODEL_WORDS)}</b></p>
<p>Plan <i>${escape(plan)}</i>, seed ${seed}. The same seed gives the same figures on any machine.</p>
<ul>${items.join('')}<li><b>Processor of an instance</b>: ${costs}</li></ul>
</header>`;
}

function goals({ goals: all }: ModelReport): string {
  if (all.length === 0) return '';
  const title = goalsTitle(all);
  const rows = all.map(({ provider, case: name, what, wanted, value, isReached }) => [
    PROVIDER_SHORT_NAMES[provider],
    ...[name, what, wanted].map(escape),
    decimalOr(value),
    isReached ? 'yes' : '<b>no</b>',
  ]);
  const columns = ['Provider', 'Case', 'Figure', 'Wanted', 'Is', 'Reached'].map((column) => ({ title: column }));
  return `<section><h2>${title}</h2>${tableHtml({ caption: title, columns, rows })}</section>`;
}

function groupSection(report: ModelReport, title: string, cells: readonly ModelReportCell[]): string {
  const drawn = cells[0]!.across === 'nothing' ? '' : charts(report, title, cells);
  const words = escape(COLUMN_WORDS.join(' '));
  return `<section><h2>${escape(title)}</h2>${legend(report, cells)}${drawn}${table(title, cells)}<p class="words">${words}</p></section>`;
}

function charts({ clouds }: ModelReport, title: string, cells: readonly ModelReportCell[]): string {
  const providers = clouds.map(({ provider }) => provider);
  const drawn = Object.entries(CHARTS).map(([words, figures]) => {
    const draw = (shape: Parameters<typeof groupChart>[1]): string => groupChart({ cells, providers, figures }, shape);
    return `<h3>${words}</h3>${figure(draw, `${title}: ${words}`)}`;
  });
  return drawn.join('\n');
}

function legend({ clouds }: ModelReport, cells: readonly ModelReportCell[]): string {
  const layouts = MODEL_LAYOUTS.filter((layout) => cells.some(({ cell }) => cell.layout === layout));
  const groups = clouds.map(({ provider }) => {
    const keys = layouts.map((layout) => `<span class="key">${mark(provider, layout)} ${layout}</span>`);
    return `<span><b>${PROVIDER_SHORT_NAMES[provider]}</b> ${keys.join(' ')}</span>`;
  });
  return `<p class="legend">${groups.join(' ')}</p>`;
}

function table(caption: string, cells: readonly ModelReportCell[]): string {
  const rows = cells.map((one) => {
    const { provider, layout, case: name } = one.cell;
    const row = cells.filter(({ cell }) => cell.provider === provider && cell.case === name);
    const series = `${mark(provider, layout)} ${PROVIDER_SHORT_NAMES[provider]} ${layout}`;
    return [series, escape(name), ...Object.values(COLUMNS).map((column) => column(one, row))];
  });
  const numbers = Object.keys(COLUMNS).map((title) => ({ title, isNumber: true }));
  return tableHtml({ caption, columns: [{ title: 'Series' }, { title: 'Case' }, ...numbers], rows });
}

function parameters({ clouds }: ModelReport): string {
  const columns = [
    { title: 'Parameter' },
    { title: 'Value', isNumber: true },
    { title: 'Low to high', isNumber: true },
    { title: 'Grade' },
    { title: 'Source' },
  ];
  const tables = clouds.map(({ provider, name, parameters: all }) => {
    const caption = `${PROVIDER_NAMES[provider]}, ${escape(name)}`;
    const rows = all.map((one) => [
      escape(one.name),
      String(one.value),
      `${one.low} to ${one.high}`,
      one.grade,
      escape(one.source),
    ]);
    return tableHtml({ caption, columns, rows });
  });
  return `<section><h2>The parameters that these figures hang on</h2>${tables.join('\n')}</section>`;
}

function footer({ notes }: ModelReport): string {
  const items = notes.map((note) => `<li>${escape(note)}</li>`);
  return `<section><h2>How to read this</h2><ul>${items.join('')}</ul><p class="words">The same figures, with histograms and the parameters of each cell, are in model.json.</p></section>`;
}
