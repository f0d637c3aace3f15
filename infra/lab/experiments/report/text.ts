// The report for a terminal: ratios and figures, then a line for each finding and each problem.
import { figureText, ratioText } from './numbers.ts';
import type { ExperimentsReport, ReportResult, ReportTable } from './schema.ts';
import { columnName, measuresOf } from './series.ts';

/** The whole text, with a final newline. */
export function experimentsText({ results, endedBy }: ExperimentsReport): string {
  const parts = [
    ...results.flatMap(chapterText),
    ...results.flatMap(findingLines),
    ...results.flatMap(({ id, problems }) => problems.map((line) => `${id.toUpperCase()}  FAILED  ${line}`)),
    ...(endedBy === null ? [] : [`ENDED EARLY: ${endedBy}`]),
  ];
  return `${parts.join('\n')}\n`;
}

function chapterText({ id, title, question, chapter }: ReportResult): string[] {
  const head = [`${id.toUpperCase()}. ${title}`, `   ${question}`, ''];
  return [...head, ...(chapter?.tables ?? []).flatMap((table) => [...tableText(table), ''])];
}

function findingLines({ id, chapter }: ReportResult): string[] {
  return (chapter?.findings ?? []).map(({ verdict, text }) => `${id.toUpperCase()}  ${verdict}: ${text}`);
}

function tableText(table: ReportTable): string[] {
  return measuresOf(table).flatMap((measure) => {
    const columns = table.columns.filter((column) => column.measure === measure);
    const lines = table.rows.map((row) => [
      row.standIn === undefined ? row.name : `${row.name} (now: ${row.standIn})`,
      ...columns.map((column) => {
        const { main } = figureText(row.figures[column.id], column.unit);
        const ratio = row.ratios[column.id];
        return ratio === undefined ? main : `${main} = ${ratioText(ratio)}x`;
      }),
    ]);
    return [`   ${table.title}: ${measure}`, ...aligned([['', ...columns.map(columnName)], ...lines])];
  });
}

function aligned(lines: readonly string[][]): string[] {
  const widths = lines[0]!.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  return lines.map((line) =>
    `     ${line.map((text, at) => (at === 0 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!))).join('  ')}`.trimEnd(),
  );
}
