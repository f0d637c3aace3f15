// What the comparison's pages, the report and the live one, add to the style of all reports.
import { REPORT_STYLE } from './style.ts';

export const COMPARISON_STYLE = `${REPORT_STYLE}
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 14px; }
.note { border-left: 4px solid var(--line); background: var(--paper); padding: 8px 14px; margin: 12px 0; } .note ul { margin: 4px 0; }
.note.caveat { border-color: var(--amber); background: var(--amber-ground); } .note.warning { border-color: var(--red); background: var(--amber-ground); }
figure { margin: 14px auto 22px; } figcaption { font-size: 14px; margin-bottom: 6px; color: var(--soft); } figcaption b { color: var(--ink); }
.legend .key { margin-left: 8px; }
summary { cursor: pointer; font-weight: 600; font-size: 14px; padding: 4px 0; } details { margin: 8px 0; }
caption { text-align: left; font-size: 13px; color: var(--soft); padding: 4px 0; position: sticky; left: 0; }
td, tbody th { vertical-align: top; font-size: 14px; } tbody th { color: var(--ink); font-weight: 600; } td small, tbody th small { display: block; font-size: 12px; font-weight: 400; }
thead th { white-space: normal; vertical-align: bottom; } td > small, th > small { max-width: 300px; white-space: normal; } td.n > small { white-space: nowrap; }
tbody th, thead th:first-child { position: sticky; left: 0; background: var(--paper); z-index: 1; }
.untold { color: var(--soft); } pre { overflow-x: auto; padding: 10px 12px; border: 1px solid var(--line); border-radius: 6px; font-size: 13px; }
@media (max-width: 640px) {
  caption { width: calc(100vw - 64px); }
  .cards, .cards tbody, .cards tr, .cards tbody th { display: block; max-width: none; } .cards thead { display: none; } .cards tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  .cards tbody th, .cards td { border: 0; padding: 1px 0; } .cards td { display: flex; flex-wrap: wrap; justify-content: flex-end; align-items: baseline; gap: 0 8px; } .cards td::before { content: attr(data-title); color: var(--soft); margin-right: auto; }
  td, tbody th { font-size: 13px; padding: 4px 6px; } tbody th { max-width: 120px; white-space: normal; }
}
@media print {
  nav { display: none; } .note { border-width: 0 0 0 3px; } td, tbody th { font-size: 9.5px; padding: 2px 3px; } thead th, caption { font-size: 9px; padding: 2px 3px; } td small, tbody th small { font-size: 8.5px; }
  tbody th, thead th:first-child { position: static; } details::details-content { content-visibility: visible; block-size: auto; } pre { white-space: pre-wrap; }
}
`;
