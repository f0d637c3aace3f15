// What the report of the experiments adds to the style of the comparison's.
import { REPORT_STYLE } from '../../../../shared/lab/report/style.ts';

const LIGHT = '--then: #8793a0; --now-0: #c2571a; --now-1: #2673b8; --now-2: #2f8f5b; --now-3: #7a56b0;';
const DARK = '--then: #93a0ad; --now-0: #ee9a5b; --now-1: #6db3ee; --now-2: #67c795; --now-3: #b79ae6;';

export const EXPERIMENTS_STYLE = `${REPORT_STYLE}
:root { ${LIGHT} --good: #1d7a46; }
@media screen and (prefers-color-scheme: dark) { :root { ${DARK} --good: #6fcf97; } }
h4 { font-size: 14px; margin: 16px 0 4px; } .question { font-size: 17px; margin: 2px 0 4px; } .verdict { display: inline-block; border: 1px solid currentColor; border-radius: 10px; padding: 0 8px; font-size: 12px; white-space: nowrap; margin-right: 4px; }
.holds { color: var(--good); } .does-not-hold { color: var(--red); } .open { color: var(--soft); } .findings { list-style: none; padding: 0; } .findings li { margin: 7px 0; }
.paragraph { border-left: 4px solid var(--line); padding: 2px 14px; margin: 14px 0; }
.figures th { white-space: normal; vertical-align: bottom; } .figures td { vertical-align: top; padding: 5px 6px; } .figures td small { font-size: 12px; white-space: normal; } .figures tbody th { color: var(--ink); font-size: 14px; font-weight: 600; vertical-align: top; min-width: 130px; }
.figures tbody th small { display: block; font-weight: 400; } .figures td b, .figures td small { display: block; } .figures .group { text-align: center; border-left: 1px solid var(--line); } .figures .first { border-left: 1px solid var(--line); }
.figures .chip { margin-left: 0; } .mark { font-style: italic; } .bad { color: var(--red); } .baseline { font-weight: 400; color: var(--soft); } .words-table { font-size: 12px; } .words-table th, .words-table td { white-space: normal; padding: 4px; overflow-wrap: anywhere; vertical-align: top; } .words-table thead th { font-size: 11px; min-width: 40px; overflow-wrap: normal; } .words-table tbody th { min-width: 100px; color: var(--ink); overflow-wrap: normal; } .changed { color: var(--red); } .same { color: var(--soft); } .on-phone { display: none; }
.note { font-size: 13px; }
.model .chip { opacity: .4; outline: 1px dashed var(--ink); }
@media (max-width: 640px) {
  .figures, .figures tbody { display: block; } .figures thead { display: none; } .figures tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--line); }
  .figures tbody th { display: block; border: 0; padding: 0 0 4px; } .figures td, .figures .first { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0 8px; border: 0; padding: 1px 0; }
  .figures td::before { content: attr(data-title); color: var(--soft); margin-right: auto; font-size: 13px; } .figures td b, .figures td small { display: inline; white-space: nowrap; } .figures td { gap: 0 6px; } .figures td .spread { display: none; } .figures .none { display: none; }
  .on-phone { display: inline; } .words-table, .words-table tbody, .words-table tr { display: block; } .words-table thead, .words-table .same { display: none; } .words-table tr { padding: 6px 0; border-bottom: 1px solid var(--line); }
  .words-table tbody th { display: block; border: 0; padding: 0; font-size: 14px; } .words-table td { display: flex; justify-content: space-between; border: 0; padding: 1px 0; font-size: 13px; } .words-table td::before { content: attr(data-title); color: var(--soft); padding-right: 12px; white-space: nowrap; }
}
@media print {
  .figures { font-size: 10px; } .figures th, .figures td { padding: 2px 4px; } .figures tbody th { font-size: 10px; min-width: 90px; } .figures thead th { font-size: 9.5px; } .words-table { font-size: 8px; } .words-table th { font-size: 8px; } .words-table th, .words-table td { padding: 2px 3px; min-width: 0; }
  h4, h3 + .words { break-after: avoid; } .chapter { break-before: page; } .question { font-size: 14px; } .paragraph { break-inside: avoid; }
}
`;
