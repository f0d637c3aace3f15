// The report for a terminal.
import { factor } from '../../kit/format.ts';
import { textTable, wrapped } from '../../kit/text-table.ts';
import { columnName, type Sheet, sheetsOf } from './sheets.ts';
import { type ChaptersReport, problemsOf, type Result } from './schema.ts';

export function chaptersText({ lead, results, endedEarly }: ChaptersReport): string {
  const lines = (linesOf: (result: Result) => string[]): string[] =>
    results.flatMap((result) => linesOf(result).map((line) => `${result.id.toUpperCase()}  ${line}`));
  const parts = [
    ...lead.flatMap(wrapped),
    '',
    ...results.flatMap(({ id, title, question, chapter }) => [
      `${id.toUpperCase()}. ${title}\n   ${question}\n`,
      ...(chapter?.tables ?? []).flatMap(sheetsOf).map(sheetText),
    ]),
    ...lines(({ chapter }) => (chapter?.findings ?? []).map(({ verdict, text }) => `${verdict}: ${text}`)),
    ...lines((result) => problemsOf(result).map((line) => `FAILED  ${line}`)),
    ...(endedEarly === null ? [] : [`ENDED EARLY: ${endedEarly}`]),
  ];
  return `${parts.join('\n')}\n`;
}

function sheetText({ caption, columns, rows }: Sheet): string {
  const lines = rows.map(({ row: { name, standIn }, cells }) => [
    standIn === undefined ? name : `${name} (now: ${standIn})`,
    ...cells.map(({ ratio, text }) => (ratio === undefined ? text : `${text} = ${factor(ratio)}`)),
  ]);
  return `${caption}\n${textTable(['', ...columns.map(columnName)], lines, 1)}\n`;
}
