// The model's report as one self-contained HTML page, in the comparison's style: no script, nothing loaded from anywhere.
import { whole } from '../../kit/format.ts';
import { escape } from '../../kit/html.ts';
import { figure, mark, page } from '../html-parts.ts';
import { PROVIDER_NAMES, PROVIDER_SHORT_NAMES } from '../names.ts';
import { type Figure, groupChart } from './charts.ts';
import { MODEL_WORDS } from './report.ts';
import type { ModelReport, ModelReportCell } from './schema.ts';
import { MODEL_LAYOUTS } from '../../kit/dimensions.ts';

const THROUGHPUT: readonly Figure[] = [{ of: (cell) => cell.recordsPerSecond }];
const LATENCY: readonly Figure[] = [
  { of: (cell) => cell.p50Ms },
  { of: (cell) => cell.p99Ms, lineType: 'dashed', isLabelled: false },
];
const SPENT: readonly Figure[] = [
  { of: (cell) => cell.requestsPer1000Records / 1_000 },
  { of: (cell) => cell.billableOperationsPer1000Records / 1_000, lineType: 'dashed', isLabelled: false },
];

/** The whole document. */
export function modelHtml(report: ModelReport): string {
  const groups = [...Map.groupBy(report.cells, (cell) => cell.model.group)];
  const body = [
    header(report),
    goals(report),
    ...groups.map(([title, cells]) => groupSection(report, title, cells)),
    parameters(report),
    footer(report),
  ];
  return page(`Stowage: model of the clouds, plan ${report.plan.name}`, body.join('\n'));
}

function header({ plan, model, providers, durationMs }: ModelReport): string {
  const { processor, clouds } = model;
  const items = clouds
    .filter(({ provider }) => providers.some((one) => one.ran && one.provider === provider))
    .map(
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
<p>Plan <i>${escape(plan.name)}</i>, seed ${plan.seed}, ${plan.recordBytes}-byte records, ${whole(durationMs / 1_000)} s of virtual time in all. The same seed gives the same figures on any machine.</p>
<ul>${items.join('')}<li><b>Processor of an instance</b>: ${costs}</li></ul>
</header>`;
}

function goals({ model }: ModelReport): string {
  const { goals: all } = model;
  if (all.length === 0) return '';
  const rows = all.map(
    ({ provider, case: name, what, wanted, value, isReached }) =>
      `<tr><td>${PROVIDER_SHORT_NAMES[provider]}</td><td>${escape(name)}</td><td>${escape(what)}</td><td>${escape(wanted)}</td><td class="n">${value === null ? '-' : value.toFixed(2)}</td><td>${isReached ? 'yes' : '<b>no</b>'}</td></tr>`,
  );
  const reached = all.filter(({ isReached }) => isReached).length;
  return `<section><h2>Goals of the container layout: ${reached} of ${all.length} reached</h2>
<div class="scroll"><table class="all"><thead><tr><th>Provider</th><th>Case</th><th>Figure</th><th>Wanted</th><th class="n">Is</th><th>Reached</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

function groupSection(report: ModelReport, title: string, cells: readonly ModelReportCell[]): string {
  const drawn = cells[0]!.model.across === 'nothing' ? '' : charts(report, title, cells);
  const words =
    'Case: instances x callers of each. req., billed, confl.: an operation. slowest: operations of the slowest caller, of the mean caller; - where callers had few. proc.: of the busiest instance. refused: throttled, or given up for a lock.';
  return `<section><h2>${escape(title)}</h2>${legend(report, cells)}${drawn}${table(cells)}<p class="words">${words}</p></section>`;
}

function charts({ providers }: ModelReport, title: string, cells: readonly ModelReportCell[]): string {
  const ran = providers.filter((one) => one.ran).map(({ provider }) => provider);
  const one = (words: string, figures: readonly Figure[]): string => {
    const chart = { cells, providers: ran, figures };
    return `<h3>${words}</h3>${figure((shape) => groupChart(chart, shape), `${title}: ${words}`)}`;
  };
  return [
    one('Throughput, records a second (logarithmic)', THROUGHPUT),
    one('Latency, milliseconds (logarithmic): p50, and p99 dashed', LATENCY),
    one('Requests a record, and billed operations dashed (logarithmic)', SPENT),
  ].join('\n');
}

function legend({ providers }: ModelReport, cells: readonly ModelReportCell[]): string {
  const groups = providers
    .filter(({ ran }) => ran)
    .map(({ provider }) => {
      const layouts = MODEL_LAYOUTS.filter((layout) => cells.some((cell) => cell.layout === layout));
      const keys = layouts.map((layout) => `<span class="key">${mark(provider, layout)} ${layout}</span>`);
      return `<span><b>${PROVIDER_SHORT_NAMES[provider]}</b> ${keys.join(' ')}</span>`;
    });
  return `<p class="legend">${groups.join(' ')}</p>`;
}

const TITLES = [
  'records/s',
  'p50 ms',
  'p99 ms',
  'req.',
  'billed',
  'conflicts',
  '$ / 1M',
  'slowest',
  'proc. %',
  'throttled',
  'failed',
];

function table(cells: readonly ModelReportCell[]): string {
  const rows = cells.map((cell) => {
    const series = `${mark(cell.provider, cell.layout)} ${PROVIDER_SHORT_NAMES[cell.provider]} ${cell.layout}`;
    const numbers = numbersOf(cell).map((text) => `<td class="n">${text}</td>`);
    return `<tr><td>${series}</td><td>${escape(cell.model.case)}</td>${numbers.join('')}</tr>`;
  });
  const titles = TITLES.map((title) => `<th class="n">${title}</th>`);
  return `<div class="scroll"><table class="all"><thead><tr><th>Series</th><th>Case</th>${titles.join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
}

function numbersOf(cell: ModelReportCell): string[] {
  const { slowestCaller, conflictsPer1000Records, processorBusiest, throttled, contended } = cell.model;
  return [
    whole(cell.recordsPerSecond),
    ...[cell.p50Ms, cell.p99Ms].map((ms) => (ms === null ? '-' : ms.toFixed(ms < 10 ? 2 : 1))),
    ...[cell.requestsPer1000Records, cell.billableOperationsPer1000Records, conflictsPer1000Records].map((per1000) =>
      (per1000 / 1_000).toFixed(2),
    ),
    String(Number(cell.dollarsPerMillionRecords.toPrecision(2))),
    slowestCaller === null ? '-' : slowestCaller.toFixed(2),
    String(Math.round(processorBusiest * 100)),
    String(throttled + contended),
    String(cell.errors + cell.unfinished),
  ];
}

function parameters({ model }: ModelReport): string {
  const tables = model.clouds
    .filter((cloud) => cloud.parameters.length > 0)
    .map(({ provider, name, parameters: all }) => {
      const rows = all.map(
        (one) =>
          `<tr><td>${escape(one.name)}</td><td class="n">${one.value}</td><td class="n">${one.low} to ${one.high}</td><td>${one.grade}</td><td style="white-space:normal">${escape(one.source)}</td></tr>`,
      );
      return `<h3>${PROVIDER_NAMES[provider]}, ${escape(name)}</h3><div class="scroll"><table class="all"><thead><tr><th>Parameter</th><th class="n">Value</th><th class="n">Low to high</th><th>Grade</th><th>Source</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
    });
  return `<section><h2>The parameters that these figures hang on</h2>${tables.join('\n')}</section>`;
}

function footer({ notes }: ModelReport): string {
  const items = notes.map((note) => `<li>${escape(note)}</li>`);
  return `<section><h2>How to read this</h2><ul>${items.join('')}</ul><p class="words">The same figures, with histograms and the parameters of each cell, are in model.json.</p></section>`;
}
