// The report for a terminal: at most 120 columns, plain ASCII, the page's curves as tables.
import { PROVIDERS } from '../kit/dimensions.ts';
import { decimal, dollars, textTable, whole, whyUndecided, wrapped } from '../kit/figure-format.ts';
import { publishedText } from '../plan/published.ts';
import { chunks } from '../kit/numbers.ts';
import {
  changeTable,
  failureWords,
  type FigureTable,
  loadWords,
  PROVIDER_NAMES,
  PROVIDER_SHORT_NAMES,
  recordWords,
  searchTable,
  WORKLOAD_WORDS,
} from './names.ts';
import type { Against, Report, ReportCell } from './report-schema.ts';
import { leftOutWords, whereWords } from './warnings.ts';

export function reportText(report: Report): string {
  const parts = [
    headingText(report),
    curvesText(report),
    warningsText(report),
    searchesText(report),
    againstText(report.against),
    goalsText(report.goals),
    publishedText(report.plan.name, report.cells),
    sentencesText(report),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function headingText({ plan, places, network }: Report): string {
  const runs = plan.repetitions === 1 ? 'one run' : `${plan.repetitions} runs`;
  const title = `Plan "${plan.name}", ${recordWords(plan)}, ${runs} of each cell, seed ${plan.seed}`;
  return [title, ...wrapped(whereWords({ places, network }))].join('\n');
}

/** Loads that stand beside each other in one table. */
const COLUMNS = 4;

/** Tables for each workload: a row for each provider and layout, a column for each load. */
export function curvesText({ cells }: Pick<Report, 'cells'>): string {
  const groups = Map.groupBy(cells, ({ workload, recordBytes }) => `${workload} ${recordBytes}`);
  const texts = [...groups.values()].map((own) => {
    const { workload, recordBytes } = own[0]!;
    const { title, units } = WORKLOAD_WORDS[workload];
    const tables = chunks([...new Set(own.map(loadWords))], COLUMNS).map((loads) => loadsTable(own, loads));
    return [
      `${title}, ${whole(recordBytes)} bytes: ${units} a second, then dollars per million at the same loads`,
      ...tables,
    ].join('\n');
  });
  return texts.join('\n\n');
}

function loadsTable(cells: readonly ReportCell[], loads: readonly string[]): string {
  const shown = cells.filter((cell) => loads.includes(loadWords(cell)));
  const rows = [...Map.groupBy(shown, nameOf)].map(([name, line]) => {
    const at = loads.map((load) => line.find((cell) => loadWords(cell) === load));
    return [name, ...at.map(rateText), ...at.map(dollarsText)];
  });
  return textTable(['', ...loads, ...loads.map(() => '$')], rows, 1);
}

function dollarsText(cell: ReportCell | undefined): string {
  return cell === undefined ? '-' : dollars(cell.dollarsPerMillionRecords.median);
}

function nameOf({ provider, layout, containerKib }: ReportCell): string {
  return `${PROVIDER_SHORT_NAMES[provider]} ${layout}${containerKib === null ? '' : ` ${containerKib} KiB`}`;
}

/** In brackets where the machine was the limit. */
function rateText(cell: ReportCell | undefined): string {
  if (cell === undefined) return '-';
  const rate = decimal(cell.recordsPerSecond.median);
  return cell.isMachineLimited ? `(${rate})` : rate;
}

function warningsText(report: Report): string {
  const { endedEarly, failures, leftovers, leftOut, providers, cells, warnings } = report;
  const absent = PROVIDERS.flatMap((provider) => providers.filter((one) => one.provider === provider && !one.ran));
  return [
    ...(endedEarly === null ? [] : [`Ended before its last run: ${endedEarly}`]),
    ...(cells.some(({ isMachineLimited }) => isMachineLimited)
      ? [
          "In brackets: the function's thread or the emulator's was full there, so the figure is this machine's, not the store's.",
        ]
      : []),
    ...warnings,
    ...failures.map((failure) => `FAILED ${failureWords(failure)}`),
    ...leftovers.map(
      ({ provider, dataset, error }) => `NOT REMOVED, it is billed: ${PROVIDER_NAMES[provider]}, ${dataset}: ${error}`,
    ),
    ...absent.map(({ provider, why }) => `${PROVIDER_NAMES[provider]} is left out: ${why}`),
    ...leftOutWords(leftOut),
  ]
    .flatMap(wrapped)
    .join('\n');
}

function searchesText(report: Report): string {
  return report.searches.length === 0 ? '' : figureTableText(searchTable(report));
}

function againstText(against: Against | undefined): string {
  if (against === undefined) return '';
  return [figureTableText(changeTable(against)), ...against.otherwise.flatMap(wrapped)].join('\n');
}

/** Without the intervals. The caption stands alone over a table without rows. */
function figureTableText({ caption, header, rows }: FigureTable): string {
  const lines = rows.map((row) => row.map((entry) => (typeof entry === 'string' ? entry : entry[0])));
  return [...wrapped(caption), ...(rows.length === 0 ? [] : [textTable(header, lines, 2)])].join('\n');
}

function goalsText(goals: Report['goals']): string {
  if (goals.length === 0) return '';
  const met = goals.filter(({ isMet }) => isMet).length;
  const lines = goals.map(({ text, isMet }) => `  ${isMet ? 'met   ' : 'missed'}  ${text}`);
  return [`${met} of ${goals.length} goals are met`, ...lines].join('\n');
}

function sentencesText({ sentences, comparisons }: Report): string {
  const untold = comparisons.filter(
    ({ recordsPerSecond: ratio }) => ratio !== null && whyUndecided(ratio) !== undefined,
  );
  const count = `${comparisons.length - untold.length} of ${comparisons.length} ratios of rates are told apart from 1.`;
  return [...sentences.map(({ text }) => text), ...(comparisons.length === 0 ? [] : [count])]
    .flatMap(wrapped)
    .join('\n');
}
