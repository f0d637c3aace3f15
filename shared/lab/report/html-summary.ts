// The page's tables across workloads: layouts at their best, searches, changes since a report.
import type { Layout } from '../kit/dimensions.ts';
import type { Figure } from '../kit/figure.ts';
import type { Ratio } from '../kit/ratio.ts';
import { decimal, dollars, factor, intervalText, whole, whyUndecided } from '../kit/format.ts';
import { escape, tableHtml } from '../kit/html.ts';
import { columnsOf, folded } from './html-parts.ts';
import { cellWords, loadWords, PROVIDER_SHORT_NAMES } from './names.ts';
import type { Change, Report, SummaryRow } from './schema.ts';
import { byChanceAlone } from './significance.ts';
import { hasSides, shownIn, type SummaryRatio } from './summary.ts';

/** The median, with its interval below it. */
export function figureHtml(figure: Figure | null, format: (value: number) => string): string {
  if (figure === null) return '-';
  return `${format(figure.median)} <small>${intervalText(figure, format)}</small>`;
}

/** Bold where it is told apart; else it says why not. */
export function ratioHtml(ratio: Ratio | null, isLikeWithLike: boolean): string {
  if (!isLikeWithLike) return '<span class="untold"><small>calls of other sizes</small></span>';
  if (ratio === null) return '-';
  const why = whyUndecided(ratio);
  const interval =
    ratio.pairs === 1 ? '' : `<small>${factor(ratio.low).replace(' x', '')} to ${factor(ratio.high)}</small>`;
  if (why !== undefined) return `<span class="untold">${factor(ratio.ratio)} ${interval}<small>${why}</small></span>`;
  return `<b>${factor(ratio.ratio)}</b> ${interval}`;
}

export function summaryHtml({ summary, plan }: Pick<Report, 'summary' | 'plan'>): string {
  if (summary.length === 0) return '';
  const { layouts, ratios } = shownIn(summary);
  const confidence = summary.flatMap(({ best }) => layouts.map((layout) => best[layout]))[0]?.recordsPerSecond
    .confidence;
  const table = tableHtml({
    caption: 'Records a second at the load where a layout was fastest, and the layouts against each other',
    columns: columnsOf(['Workload'], [...layouts, ...ratios.map(({ title }) => title)]),
    rows: summary.map((row) => summaryRow(row, layouts, ratios)),
    isCards: true,
  });
  return folded(
    'Each layout at its best load, in figures',
    `${table}
<p class="words">${plan.repetitions === 1 ? 'One run of each' : `Medians of ${plan.repetitions} runs; below them the interval in which the true median lies`}${
      confidence === undefined || confidence === 0 ? '' : ` with ${Math.round(confidence * 1_000) / 10} % confidence`
    }. A ratio is the middle of the ratios within a block. It stands only where a call of both hands over as many records (to batch, that is container-batch where
container hands over single ones), and bold only from six sound runs on, where its interval leaves out 1. The driver is the store's own, with one entity a
record: what containers gain over it is the packing's, what it gains over the SDK (over batch in load, else over record) the transport's.
The best of several loads favours lucky runs a little; the tables of the workloads have all loads.</p>`,
  );
}

function summaryRow(row: SummaryRow, layouts: readonly Layout[], ratios: readonly SummaryRatio[]): string[] {
  const bestHtml = (layout: Layout): string => {
    const own = row.best[layout];
    return own === null ? '-' : `${figureHtml(own.recordsPerSecond, whole)}<small>${loadWords(own)}</small>`;
  };
  const toHtml = (one: SummaryRatio): string => ratioHtml(row[one.name], row[one.name] !== null || !hasSides(row, one));
  const title = `${PROVIDER_SHORT_NAMES[row.provider]} ${row.workload}, ${whole(row.recordBytes)} B`;
  return [title, ...layouts.map(bestHtml), ...ratios.map(toHtml)];
}

export function searchesHtml({ searches }: Pick<Report, 'searches'>): string {
  if (searches.length === 0) return '';
  const rows = searches.map(({ search, ratePerSecondHeld, latencyMs, runs, ...cell }) => [
    escape(cellWords(cell)),
    `p${search.percentile} within ${search.latencyMsMax} ms`,
    figureHtml(ratePerSecondHeld, whole),
    figureHtml(latencyMs, decimal),
    String(runs.length),
    String(runs.reduce((sum, run) => sum + run.tries.length, 0)),
  ]);
  return `<section id="searches"><h2>The highest rate that holds a latency</h2>${tableHtml({
    caption: 'Highest rates of an open loop at which a percentile stayed within a latency',
    columns: columnsOf(['Cell', 'held'], ['operations a second', 'ms when tried again', 'searches', 'rates tried']),
    rows,
  })}</section>`;
}

function changedHtml({ figure }: Change, value: number): string {
  if (figure === 'throughput') return whole(value);
  return figure === 'cost' ? `$${dollars(value)}` : `${value.toFixed(2)} ms`;
}

export function againstHtml({ against }: Pick<Report, 'against'>): string {
  if (against === undefined) return '';
  const { changes, significance, otherwise, onlyBefore, onlyNow, startedAt } = against;
  const told = changes.filter(({ verdict }) => verdict !== 'undecided');
  const words = [
    `${changes.length} figures of both reports were tested (Mann-Whitney, two-sided, exact, of the runs' values): ${told.length} changed with p below ${significance}.`,
    byChanceAlone(changes.length),
    ...(onlyBefore + onlyNow > 0 ? [`Cells only before: ${onlyBefore}; only now: ${onlyNow}.`] : []),
    ...otherwise,
  ];
  const rows = told.map((change) => [
    escape(cellWords(change)),
    change.figure,
    changedHtml(change, change.before.median),
    changedHtml(change, change.now.median),
    `<b>${factor(change.ratio)}</b>`,
    change.p.toFixed(3),
  ]);
  const table = tableHtml({
    caption: 'Figures that changed by more than chance',
    columns: columnsOf(['Cell', 'figure'], ['before', 'now', 'ratio', 'p']),
    rows,
  });
  return `<section id="against"><h2>Against the report of ${escape(startedAt.slice(0, 10))}</h2>
<p class="words">${escape(words.join(' '))}</p>${told.length === 0 ? '' : table}</section>`;
}
