// The style of all reports: readable on a phone, on a screen, in the dark and on paper.
import { paletteCss } from './names.ts';

const LIGHT = `--ink: #1f2933; --soft: #52606d; --paper: #fff; --ground: #f6f8fa; --line: #dde3e9; --amber-ground: #fff8e1;
--red: #b3261e; ${paletteCss('light')}`;
const DARK = `--ink: #e4e9ee; --soft: #a9b4bf; --paper: #1b2128; --ground: #12161b; --line: #38424d; --amber-ground: #332b12;
--red: #ff8a80; ${paletteCss('dark')}`;

export const REPORT_STYLE = `
:root { color-scheme: light dark; ${LIGHT} }
@media screen and (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
main { max-width: 1200px; margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; line-height: 1.25; margin: 8px 0; } h2 { font-size: 19px; margin: 0 0 8px; } h3 { font-size: 14px; margin: 18px 0 6px; color: var(--soft); font-weight: 600; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 20px 24px; margin: 20px 0; }
figure { margin: 14px auto 22px; max-width: 900px; } figure svg { display: block; width: 100%; height: auto; } .narrow { display: none; }
ul { padding-left: 20px; } li { margin: 4px 0; } a { color: inherit; }
.words { color: var(--soft); margin: 6px 0; }
.key { white-space: nowrap; } i.mark { font-style: normal; font-size: 13px; }
table { overflow-wrap: normal; border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; } th, td { text-align: left; padding: 5px 8px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-size: 13px; color: var(--soft); } .n { text-align: right; } small { color: var(--soft); font-size: 13px; }
.scroll { overflow-x: auto; }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
h1 + .lead { font-size: 17px; margin: 8px 0; }
main > details { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 8px 24px; margin: 20px 0; }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 14px; }
.note { border-left: 4px solid var(--line); background: var(--paper); padding: 8px 14px; margin: 12px 0; } .note ul { margin: 4px 0; }
.note.warning { border-color: var(--red); background: var(--amber-ground); }
figcaption { font-size: 14px; margin-bottom: 6px; color: var(--soft); } figcaption b { color: var(--ink); }
summary { cursor: pointer; font-weight: 600; font-size: 14px; padding: 4px 0; } details { margin: 8px 0; }
caption { text-align: left; font-size: 13px; color: var(--soft); padding: 4px 0; position: sticky; left: 0; }
td, tbody th { vertical-align: top; font-size: 14px; } tbody th { color: var(--ink); font-weight: 600; } td small, tbody th small { display: block; font-size: 12px; font-weight: 400; }
thead th { white-space: normal; vertical-align: bottom; } td > small, th > small { max-width: 300px; white-space: normal; } td small { overflow-wrap: anywhere; } td.n > small { overflow-wrap: normal; }
tbody th, thead th:first-child { position: sticky; left: 0; background: var(--paper); z-index: 1; }
.untold { color: var(--soft); } pre { overflow-x: auto; padding: 10px 12px; border: 1px solid var(--line); border-radius: 6px; font-size: 13px; }
@media (max-width: 640px) {
  main { padding: 12px; } section { padding: 14px 12px; margin: 14px 0; } h1 { font-size: 22px; } .wide { display: none; } .narrow { display: block; }
  td.n > small { white-space: nowrap; } caption { width: calc(100vw - 64px); } h1 + .lead { font-size: 15px; } main > details { padding: 6px 12px; margin: 14px 0; }
  .cards, .cards tbody, .cards tr, .cards tbody th { display: block; max-width: none; } .cards thead { display: none; } .cards tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  .cards tbody th, .cards td { border: 0; padding: 1px 0; } .cards td { display: flex; flex-wrap: wrap; justify-content: flex-end; align-items: baseline; gap: 0 8px; } .cards td::before { content: attr(data-title); color: var(--soft); margin-right: auto; }
  td, tbody th { font-size: 13px; padding: 4px 6px; } tbody th { max-width: 120px; white-space: normal; }
}
@media print {
  @page { margin: 12mm; }
  body { background: none; font-size: 12px; } main { max-width: none; padding: 0; } section { border: 0; padding: 0; margin: 16px 0; } .wide { display: block; } .narrow { display: none; }
  h2, h2 + .words, h3 { break-after: avoid; } figure, tr, .note { break-inside: avoid; } thead { display: table-header-group; } .scroll { overflow: visible; } small { font-size: 10px; }
  nav { display: none; } .note { border-width: 0 0 0 3px; } td, tbody th { font-size: 9.5px; padding: 2px 3px; } thead th, caption { font-size: 9px; padding: 2px 3px; } td small, tbody th small { font-size: 8.5px; }
  tbody th, thead th:first-child { position: static; } details::details-content { content-visibility: visible; block-size: auto; } pre { white-space: pre-wrap; }
}
`;
