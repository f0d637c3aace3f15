// The page's tables: every figure that curves and sentences leave out.
import { decimal, dollars, factor, intervalText, whole, whyUndecided } from '../kit/figure-format.ts';
import { PROVIDERS } from '../kit/dimensions.ts';
import type { Ratio } from '../kit/figure.ts';
import {
  changeTable,
  commitWords,
  type Entry,
  failedIn,
  loadWords,
  machineWords,
  PROVIDER_NAMES,
  PROVIDER_SHORT_NAMES,
  searchTable,
  versionWords,
  WORKLOAD_WORDS,
} from '../report/names.ts';
import type { Comparison, Report, ReportCell } from '../report/report-schema.ts';
import { element } from './dom.ts';

/** The first column names its row. A wide table scrolls by itself. */
function table(caption: string, header: readonly string[], rows: readonly (readonly Entry[])[], id = ''): HTMLElement {
  const head = element('tr', {}, ...header.map((one) => entry('th', one, 'col')));
  const made = element('table', { id: id !== '' && id }, element('caption', {}, caption));
  made.append(element('thead', {}, head), element('tbody', {}, ...rows.map(row)));
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }, made);
}

function row(entries: readonly Entry[]): HTMLElement {
  return element('tr', {}, ...entries.map((one, at) => entry(at === 0 ? 'th' : 'td', one, 'row')));
}

/** `scope` is for a heading: `row` or `col`. */
function entry(name: 'td' | 'th', content: Entry, scope: string): HTMLElement {
  const [figure, small] = typeof content === 'string' ? [content] : content;
  return element(name, { scope: name === 'th' && scope }, figure, ...(small ? [element('small', {}, small)] : []));
}

/** None without rows. */
function tablesOf(...[caption, header, rows]: Parameters<typeof table>): HTMLElement[] {
  return rows.length === 0 ? [] : [table(caption, header, rows)];
}

const CELL_HEADER = [
  'cloud, layout',
  'load',
  'a second',
  'p50 ms',
  'p99 ms',
  '$ per million',
  'requests per 1,000',
  'processor µs per record',
  'drift',
  'failed',
  'marks',
];

/** A table for each workload and size of record. */
export function cellTables({ cells }: Pick<Report, 'cells'>): HTMLElement[] {
  const groups = Map.groupBy(cells, ({ workload, recordBytes }) => `${workload} ${recordBytes}`);
  return [...groups.values()].map((own) => {
    const { workload, recordBytes } = own[0]!;
    const { title, units } = WORKLOAD_WORDS[workload];
    const caption = `${title}: ${units}, ${whole(recordBytes)} bytes per record`;
    return table(caption, CELL_HEADER, own.map(cellRow), tableId(own[0]!));
  });
}

export function tableId({ workload, recordBytes }: Pick<ReportCell, 'workload' | 'recordBytes'>): string {
  return `figures-${workload}-${recordBytes}`;
}

function cellRow(cell: ReportCell): Entry[] {
  const { recordsPerSecond: rate, dollarsPerMillionRecords: bill, latency, drift, runs } = cell;
  const size = cell.containerKib === null ? '' : ` of ${cell.containerKib} KiB`;
  const marks = Map.groupBy(
    runs.flatMap((run) => run.marks),
    (mark) => mark,
  );
  return [
    `${PROVIDER_SHORT_NAMES[cell.provider]} ${cell.layout}${size}`,
    loadWords(cell),
    [decimal(rate.median) + (cell.isMachineLimited ? ' ○' : ''), intervalText(rate, decimal)],
    msText(latency.p50Ms),
    msText(latency.p99Ms),
    [dollars(bill.median), intervalText(bill, dollars)],
    decimal(cell.requestsPer1000Records.median),
    decimal(cell.processorUsPerRecord.median),
    drift === null ? '-' : factor(drift),
    whole(failedIn(cell)),
    [...marks].map(([mark, some]) => `${mark} ${some.length}/${runs.length}`).join(', '),
  ];
}

function msText(value: number | null): string {
  return value === null ? '' : decimal(value);
}

function sideWords({ provider, layout }: Comparison['numerator']): string {
  return `${PROVIDER_SHORT_NAMES[provider]} ${layout}`;
}

export function comparisonTable({ comparisons }: Pick<Report, 'comparisons'>): HTMLElement[] {
  const header = ['workload', 'load', 'of', 'to', 'a second', 'verdict', '$ per million', 'processor time'];
  const rows = comparisons.map((one): Entry[] => [
    `${WORKLOAD_WORDS[one.workload].title}, ${whole(one.recordBytes)} B`,
    loadWords(one),
    sideWords(one.numerator),
    sideWords(one.denominator),
    ratioEntry(one.recordsPerSecond),
    verdictWords(one),
    ratioEntry(one.dollarsPerMillionRecords),
    ratioEntry(one.processorUsPerRecord),
  ]);
  return tablesOf('Ratios over the blocks in which both ran, with their intervals', header, rows);
}

function ratioEntry(ratio: Ratio | null): Entry {
  return ratio === null ? '-' : [factor(ratio.ratio), ratio.pairs === 1 ? '' : intervalText(ratio, factor)];
}

function verdictWords({ recordsPerSecond: ratio, isMachineLimited }: Comparison): string {
  if (ratio === null) return 'no ratio';
  return (whyUndecided(ratio) ?? ratio.verdict) + (isMachineLimited ? ', machine-limited ○' : '');
}

/** One cloud against the other, a row for each workload and layout. */
export function cloudTable({ comparisons }: Pick<Report, 'comparisons'>): HTMLElement[] {
  const across = comparisons.filter(({ numerator, denominator }) => numerator.provider !== denominator.provider);
  const loads = [...new Set(across.map(loadWords))];
  const lines = Map.groupBy(across, ({ workload, recordBytes, numerator: { layout }, containerKib }) =>
    [workload, recordBytes, layout, containerKib].join(' '),
  );
  const rows = [...lines.values()].map((line): Entry[] => {
    const { workload, recordBytes, numerator } = line[0]!;
    const at = loads.map((load) => line.find((one) => loadWords(one) === load));
    return [
      `${WORKLOAD_WORDS[workload].title}, ${whole(recordBytes)} B, ${numerator.layout}`,
      ...at.map((one) => clearEntry(one?.recordsPerSecond)),
      ...at.map((one) => clearEntry(one?.dollarsPerMillionRecords)),
    ];
  });
  const header = ['', ...loads.map((load) => `rate, ${load}`), ...loads.map((load) => `$, ${load}`)];
  const [one, other] = PROVIDERS.map((provider) => PROVIDER_NAMES[provider]);
  return tablesOf(`${one} to ${other}: the ratios of their rates and bills`, header, rows);
}

function clearEntry(ratio: Ratio | null | undefined): Entry {
  return ratio ? [factor(ratio.ratio), whyUndecided(ratio) ?? ''] : '-';
}

export function searchParts(report: Pick<Report, 'searches'>): HTMLElement[] {
  const { caption, header, rows } = searchTable(report);
  return tablesOf(caption, header, rows);
}

export function againstParts({ against }: Pick<Report, 'against'>): HTMLElement[] {
  if (against === undefined) return [];
  const { otherwise, onlyBefore, onlyNow } = against;
  const { caption, header, rows } = changeTable(against);
  const only = `Cells that only the earlier report has: ${onlyBefore}, only this one: ${onlyNow}.`;
  return [
    table(caption, header, rows),
    element('ul', {}, ...[only, ...otherwise].map((text) => element('li', {}, text))),
  ];
}

export function placeWords({ places, coordinator, versions, commit, providers }: Report): string[] {
  return [
    ...places.map((place) => {
      const { provider, backend, platform, region, processors, processorModel, runtime } = place;
      const where = `${platform}${region === null ? '' : ` in ${region}`}, ${processors ?? '?'} x ${processorModel}`;
      return `${PROVIDER_NAMES[provider]}: ${backend}; ${where}, ${runtime}; ${versionWords(place.versions)}; commit ${commitWords(place.commit)}`;
    }),
    `Asked for by ${machineWords(coordinator)}; ${versionWords(versions)}; commit ${commitWords(commit)}`,
    ...providers
      .filter(({ ran }) => !ran)
      .map(({ provider, why }) => `${PROVIDER_NAMES[provider]} is left out: ${why}`),
  ];
}
