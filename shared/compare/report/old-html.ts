// The report as one self-contained HTML page: SVG charts and tables, no script, nothing loaded from anywhere.
import { OLD_WORKLOADS, type OldWorkload } from '../cell/old-cell.ts';
import { type Layout, LAYOUTS, type Provider } from '../dimensions.ts';
import { busyWarning } from './old-busy-warning.ts';
import { latencyChart, providersOf, spendingChart, throughputChart } from './old-charts.ts';
import { chip, escape, figure, page, whole } from './html-parts.ts';
import { PROVIDER_NAMES, PROVIDER_SHORT_NAMES } from './names.ts';
import type { Report, ReportCell, SummaryRow } from './old-schema.ts';
import { sameCallSize } from './summary.ts';

const WORKLOAD_TITLES: Readonly<Record<OldWorkload, string>> = {
  load: 'Load: new records, 500 a call',
  read: 'Read: uniform keys',
  update: 'Update: half reads, half writes, zipfian keys',
};

const WORKLOAD_WORDS: Readonly<Record<OldWorkload, string>> = {
  load: 'record: single inserts. batch: commits of 500 (Datastore), five group transactions of 100 in parallel (Azure). container: putMany.',
  read: 'record and container: one strong get a call. batch: lookups of 500 keys (Datastore); single gets on Azure, which has no batched get. Call sizes differ: compare container with record, not with lookups of 500.',
  update:
    'record and container: one operation a call. batch: 500 operations a call (Datastore), 100 (Azure, single gets). Compare container with record.',
};

/** The whole document. */
export function reportHtml(report: Report): string {
  const body = [
    header(report),
    busy(report),
    failures(report),
    leftovers(report),
    ratios(report),
    ...OLD_WORKLOADS.filter((workload) => report.cells.some((cell) => cell.workload === workload)).map((workload) =>
      workloadSection(report, workload),
    ),
    spending(report),
    allCells(report),
    footer(report),
  ].join('\n');
  return page(`Stowage: comparison of ${report.startedAt.slice(0, 10)}`, body);
}

function header({ startedAt, durationMs, plan, machine, providers }: Report): string {
  const list = providers.map(
    ({ provider, backend, ran }) =>
      `<li><b>${PROVIDER_NAMES[provider]}</b>: ${escape(backend)}${ran ? '' : ' (not run)'}</li>`,
  );
  const memory = Math.round(machine.memoryBytes / 2 ** 30);
  return `<header>
<h1>Stowage: three ways to store small records</h1>
<p>One entity a record, the SDK's own batches, and this container store, under ${plan.concurrencies.join(', ')} callers in flight.
Plan <i>${escape(plan.name)}</i>, ${plan.recordBytes}-byte records, started ${escape(startedAt.replace('T', ' ').slice(0, 16))} UTC, took ${Math.round(durationMs / 1_000)} s.</p>
<ul>${list.join('')}<li><b>Machine</b>: ${machine.cores} cores, ${escape(machine.cpu)}, ${memory} GiB, ${escape(machine.platform)}, Node.js ${escape(machine.node)}</li></ul>
<p class="caveat">${emulated(providers) ? 'These are <b>emulators, not the clouds</b>: they share this machine with the functions, without a network and without throttling. Compare the layouts with each other; do not take the rates for what a cloud will do.' : 'Measured against real services.'}</p>
</header>`;
}

function emulated(providers: Report['providers']): boolean {
  return providers.some(({ ran, isEmulator }) => ran && isEmulator);
}

function failures({ failures: failed }: Report): string {
  if (failed.length === 0) return '';
  const items = failed.map(
    ({ provider, layout, workload, concurrency, error }) =>
      `<li>${PROVIDER_SHORT_NAMES[provider]}, ${layout}, ${workload}, ${concurrency} callers: ${escape(error)}</li>`,
  );
  return `<section class="failed"><h2>Cells that failed</h2><ul>${items.join('')}</ul></section>`;
}

function busy({ cells }: Report): string {
  const warning = busyWarning(cells);
  return warning === undefined ? '' : `<p class="caveat warning"><b>Busy machine.</b> ${escape(warning)}</p>`;
}

function leftovers({ leftovers: left }: Report): string {
  if (left.length === 0) return '';
  const items = left.map(
    ({ provider, dataset, error }) =>
      `<li>${PROVIDER_SHORT_NAMES[provider]}, dataset <code>${escape(dataset)}</code>: ${escape(error)}</li>`,
  );
  return `<section class="failed"><h2>Tables and entities that could not be removed</h2><p class="words">Delete them yourself: they are billed.</p><ul>${items.join('')}</ul></section>`;
}

function ratios({ summary, plan }: Report): string {
  const rows = summary.map(
    (row) => `<tr><td>${PROVIDER_SHORT_NAMES[row.provider]}</td><td>${row.workload}</td>
${LAYOUTS.map((layout) => `<td class="n" data-title="${layout}">${bestText(row, layout)}</td>`).join('')}
<td class="n" data-title="container / batch">${times(row.containerToBatch, sameCallSize(row.best.container, row.best.batch))}</td><td class="n" data-title="container / record">${times(row.containerToRecord, sameCallSize(row.best.container, row.best.record))}</td></tr>`,
  );
  return `<section><h2>Each layout at its best concurrency</h2>
<div class="scroll"><table class="best"><thead><tr><th>Provider</th><th>OldWorkload</th><th class="n">record</th><th class="n">batch</th><th class="n">container</th><th class="n">container / batch</th><th class="n">container / record</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>
<p class="words">Records a second, and the callers in flight at which they were reached. The load figures are medians of ${plan.loadRepetitions} runs, below them the slowest and the fastest run. A ratio in brackets sets one record a call against hundreds a call.</p></section>`;
}

function bestText({ best }: SummaryRow, layout: Layout): string {
  const own = best[layout];
  if (own === null) return '-';
  const spread =
    own.repetitions.length > 1
      ? ` <small class="spread">${whole(Math.min(...own.repetitions))} to ${whole(Math.max(...own.repetitions))}</small>`
      : '';
  return `${whole(own.recordsPerSecond)} <small>at ${own.concurrency}</small>${spread}`;
}

/** Pale and in brackets where one call hands over more records than the other: a different kind of operation. */
function times(ratio: number | null, isLike: boolean): string {
  if (ratio === null) return '-';
  const text = `${ratio.toFixed(ratio < 1 ? 2 : 1)} &times;`;
  return isLike ? `<b>${text}</b>` : `<small>(${text})</small>`;
}

function workloadSection(report: Report, workload: OldWorkload): string {
  const highest = Math.max(...report.plan.concurrencies);
  return `<section><h2>${WORKLOAD_TITLES[workload]}</h2><p class="words">${WORKLOAD_WORDS[workload]}</p>
${legend(providersOf(report))}
<h3>Throughput, records a second (logarithmic)</h3>${figure((shape) => throughputChart(report, workload, shape), `Throughput of ${workload} against callers in flight`)}
<h3>Latency of an operation at ${highest} callers, milliseconds (logarithmic)</h3>${figure((shape) => latencyChart(report, workload, shape), `Latency percentiles of ${workload}`)}
<p class="words">op.: operations timed. A percentile that fewer than ten of them exceeded is left out.</p>
</section>`;
}

function spending(report: Report): string {
  const { prices } = report;
  const sources = providersOf(report).map((provider) => {
    const { region, billed, source } = prices.providers[provider];
    return `${PROVIDER_NAMES[provider]} (${escape(region)}) bills ${escape(billed)}: <a href="${escape(source)}">price list</a>.`;
  });
  return `<section><h2>What it takes: requests, billed operations, dollars</h2>
<p class="words">Each layout at its best concurrency, all scales logarithmic. ${sources.join(' ')} List prices of ${escape(prices.date)}, operations only.</p>
${legend(providersOf(report))}
<h3>Requests per 1,000 records</h3>${figure(
    (shape) => spendingChart(report, (cell) => cell.requestsPer1000Records, shape),
    'Requests per 1,000 records',
  )}
<h3>Billed operations per 1,000 records</h3>${figure(
    (shape) => spendingChart(report, (cell) => cell.billableOperationsPer1000Records, shape),
    'Billed operations per 1,000 records',
  )}
<h3>Dollars per million records</h3>${figure(
    (shape) => spendingChart(report, (cell) => cell.dollarsPerMillionRecords, shape),
    'Dollars per million records',
  )}</section>`;
}

function allCells({ cells }: Report): string {
  const rows = cells.map(
    (cell) =>
      `<tr><td>${chip(cell.provider, cell.layout)}${PROVIDER_SHORT_NAMES[cell.provider]} ${cell.layout}</td><td>${cell.workload}</td>${numbersOf(
        cell,
      )
        .map((text) => `<td class="n">${text}</td>`)
        .join('')}</tr>`,
  );
  const titles = [
    'callers',
    'records/s',
    'op.',
    'p50 ms',
    'p95 ms',
    'p99 ms',
    'req. / 1k',
    'billed / 1k',
    '$ / 1M',
    'errors',
    'retries',
    'waited',
  ];
  return `<section><h2>All cells</h2><div class="scroll" role="region" aria-label="All cells" tabindex="0"><table class="all"><thead><tr><th>Series</th><th>OldWorkload</th>${titles
    .map((title) => `<th class="n">${title}</th>`)
    .join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>
<p class="words">op.: operations timed; a percentile is given where at least ten of them were slower. waited: share of its working time that the function waited for a processor.</p></section>`;
}

function numbersOf(cell: ReportCell): string[] {
  return [
    String(cell.concurrency),
    whole(cell.recordsPerSecond),
    whole(cell.operations),
    ...[cell.p50Ms, cell.p95Ms, cell.p99Ms].map((ms) => (ms === null ? '-' : ms.toFixed(ms < 10 ? 2 : 1))),
    cell.requestsPer1000Records.toFixed(1),
    cell.billableOperationsPer1000Records.toFixed(1),
    String(Number(cell.dollarsPerMillionRecords.toPrecision(2))),
    String(cell.errors + cell.unfinished),
    cell.retries === null ? 'hidden' : String(cell.retries),
    cell.processorWait === null ? '-' : `${Math.round(cell.processorWait * 100)} %`,
  ];
}

function footer({ notes, versions }: Report): string {
  const packages = Object.entries(versions).map(([name, version]) => `${escape(name)} ${escape(version)}`);
  return `<section><h2>How to read this</h2><ul>${notes.map((note) => `<li>${escape(note)}</li>`).join('')}</ul>
<p class="words">Versions: ${packages.join(', ')}. The same figures, with histograms, are in compare.json.</p></section>`;
}

function legend(providers: readonly Provider[]): string {
  const groups = providers.map(
    (provider) =>
      `<span><b>${PROVIDER_SHORT_NAMES[provider]}</b> ${LAYOUTS.map((layout) => `<span class="key">${chip(provider, layout)}${layout}</span>`).join(' ')}</span>`,
  );
  return `<p class="legend">${groups.join(' ')}</p>`;
}
