// The report as one self-contained HTML page: SVG charts and tables, no script, nothing loaded from anywhere.
import type { Layout, Provider, Workload } from './cell.ts';
import { LAYOUTS, WORKLOADS } from './cell.ts';
import { sameCallSize } from './summary.ts';
import { COLOURS, PROVIDER_NAMES, PROVIDER_SHORT_NAMES } from './names.ts';
import type { Report, ReportCell, SummaryRow } from './report.ts';
import { latencyChart, providersOf, spendingChart, throughputChart } from './report-charts.ts';

const WORKLOAD_TITLES: Readonly<Record<Workload, string>> = {
  load: 'Load: new records, 500 a call',
  read: 'Read: uniform keys',
  update: 'Update: half reads, half writes, zipfian keys',
};

const WORKLOAD_WORDS: Readonly<Record<Workload, string>> = {
  load: 'record: single inserts. batch: commits of 500 (Datastore), five group transactions of 100 in parallel (Azure). container: putMany.',
  read: 'record and container: one strong get a call. batch: lookups of 500 keys (Datastore); single gets on Azure, which has no batched get. Call sizes differ: compare container with record, not with lookups of 500.',
  update:
    'record and container: one operation a call. batch: 500 operations a call (Datastore), 100 (Azure, single gets). Compare container with record.',
};

/** The whole document. */
export function reportHtml(report: Report): string {
  const body = [
    header(report),
    failures(report),
    ratios(report),
    ...WORKLOADS.filter((workload) => report.cells.some((cell) => cell.workload === workload)).map((workload) =>
      workloadSection(report, workload),
    ),
    spending(report),
    allCells(report),
    footer(report),
  ].join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stowage: comparison of ${escape(report.startedAt.slice(0, 10))}</title>
<style>${STYLE}</style>
</head>
<body><main>
${body}
</main></body>
</html>
`;
}

function header({ startedAt, durationMs, plan, machine, providers }: Report): string {
  const list = providers.map(
    ({ provider, backend, ran }) =>
      `<li><b>${PROVIDER_NAMES[provider]}</b>: ${escape(backend)}${ran ? '' : ' (not run)'}</li>`,
  );
  const memory = Math.round(machine.memoryBytes / 2 ** 30);
  return `<header>
<h1>Stowage: three ways to store small records</h1>
<p>One entity a record, the SDK's own batches, and this container store, under ${plan.rungs.join(', ')} callers in flight.
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

function ratios({ summary, plan }: Report): string {
  const rows = summary.map(
    (row) => `<tr><td>${PROVIDER_SHORT_NAMES[row.provider]}</td><td>${row.workload}</td>
${LAYOUTS.map((layout) => `<td class="n">${bestText(row, layout)}</td>`).join('')}
<td class="n">${times(row.containerToBatch, sameCallSize(row.best.container, row.best.batch))}</td><td class="n">${times(row.containerToRecord, sameCallSize(row.best.container, row.best.record))}</td></tr>`,
  );
  return `<section><h2>Best rung against best rung</h2>
<table><thead><tr><th>Provider</th><th>Workload</th><th class="n">record</th><th class="n">batch</th><th class="n">container</th><th class="n">container / batch</th><th class="n">container / record</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>
<p class="words">Records a second, and the callers in flight at which they were reached. The load figures are medians of ${plan.loadRepetitions} runs, below them the slowest and the fastest run. A ratio in brackets sets one record a call against hundreds a call.</p></section>`;
}

function bestText({ best }: SummaryRow, layout: Layout): string {
  const own = best[layout];
  if (own === null) return '-';
  const spread =
    own.repetitions.length > 1
      ? `<br><small>${whole(Math.min(...own.repetitions))} to ${whole(Math.max(...own.repetitions))}</small>`
      : '';
  return `${whole(own.recordsPerSecond)} <small>at ${own.concurrency}</small>${spread}`;
}

/** Pale and in brackets where one call hands over more records than the other: a different kind of operation. */
function times(ratio: number | null, isLike: boolean): string {
  if (ratio === null) return '-';
  const text = `${ratio.toFixed(ratio < 1 ? 2 : 1)} &times;`;
  return isLike ? `<b>${text}</b>` : `<small>(${text})</small>`;
}

function workloadSection(report: Report, workload: Workload): string {
  const highest = Math.max(...report.plan.rungs);
  return `<section><h2>${WORKLOAD_TITLES[workload]}</h2><p class="words">${WORKLOAD_WORDS[workload]}</p>
${legend(providersOf(report))}
<h3>Throughput, records a second (logarithmic)</h3>${figure(throughputChart(report, workload), `Throughput of ${workload} against callers in flight`)}
<h3>Latency of an operation at ${highest} callers, milliseconds (logarithmic)</h3>${figure(latencyChart(report, workload), `Latency percentiles of ${workload}`)}
</section>`;
}

function spending(report: Report): string {
  const { prices } = report;
  const sources = providersOf(report).map((provider) => {
    const { region, billed, source } = prices.providers[provider];
    return `${PROVIDER_NAMES[provider]} (${escape(region)}) bills ${escape(billed)}: <a href="${escape(source)}">price list</a>.`;
  });
  return `<section><h2>What it takes: requests, billed operations, dollars</h2>
<p class="words">Each layout at its best rung, all scales logarithmic. ${sources.join(' ')} List prices of ${escape(prices.date)}, operations only.</p>
${legend(providersOf(report))}
<h3>Requests per 1,000 records</h3>${figure(
    spendingChart(report, (cell) => cell.requestsPer1000Records, 'requests'),
    'Requests per 1,000 records',
  )}
<h3>Billed operations per 1,000 records</h3>${figure(
    spendingChart(report, (cell) => cell.billableOperationsPer1000Records, 'operations'),
    'Billed operations per 1,000 records',
  )}
<h3>Dollars per million records</h3>${figure(
    spendingChart(report, (cell) => cell.dollarsPerMillionRecords, 'US dollars'),
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
    'p50 ms',
    'p95 ms',
    'p99 ms',
    'req. / 1k',
    'billed / 1k',
    '$ / 1M',
    'errors',
    'retries',
  ];
  return `<section><h2>All cells</h2><table class="all"><thead><tr><th>Series</th><th>Workload</th>${titles
    .map((title) => `<th class="n">${title}</th>`)
    .join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table></section>`;
}

function numbersOf(cell: ReportCell): string[] {
  return [
    String(cell.concurrency),
    whole(cell.recordsPerSecond),
    ...[cell.p50Ms, cell.p95Ms, cell.p99Ms].map((ms) => ms.toFixed(ms < 10 ? 2 : 1)),
    cell.requestsPer1000Records.toFixed(1),
    cell.billableOperationsPer1000Records.toFixed(1),
    String(Number(cell.dollarsPerMillionRecords.toPrecision(2))),
    String(cell.errors + cell.unfinished),
    cell.retries === null ? 'hidden' : String(cell.retries),
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
      `<span><b>${PROVIDER_SHORT_NAMES[provider]}</b> ${LAYOUTS.map((layout) => `${chip(provider, layout)}${layout}`).join(' ')}</span>`,
  );
  return `<p class="legend">${groups.join(' ')}</p>`;
}

function chip(provider: Provider, layout: Layout): string {
  return `<i class="chip" style="background:${COLOURS[provider][layout]}"></i>`;
}

function figure(svg: string, description: string): string {
  return `<figure role="img" aria-label="${escape(description)}">${svg}</figure>`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
}

const STYLE = `
:root { color-scheme: light; }
body { margin: 0; background: #f6f8fa; color: #1f2933; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1000px; margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; margin: 8px 0; } h2 { font-size: 19px; margin: 0 0 8px; } h3 { font-size: 14px; margin: 18px 0 4px; color: #52606d; font-weight: 600; }
section { background: #fff; border: 1px solid #e3e8ed; border-radius: 8px; padding: 20px 24px; margin: 20px 0; overflow-x: auto; }
figure { margin: 0; } figure svg { display: block; max-width: 100%; height: auto; }
ul { padding-left: 20px; } li { margin: 2px 0; }
.caveat { border-left: 4px solid #d9a400; background: #fff8e1; padding: 8px 14px; }
.failed { border-color: #c0392b; } .words { color: #52606d; margin: 6px 0; }
.legend span { margin-right: 28px; white-space: nowrap; } .chip { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin: 0 5px 0 10px; vertical-align: -1px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; } th, td { text-align: left; padding: 5px 8px; border-bottom: 1px solid #e3e8ed; white-space: nowrap; }
th { font-size: 13px; color: #52606d; } .n { text-align: right; } .all { font-size: 13px; } .all td .chip { margin-left: 0; } small { color: #7b8794; }
`;
