// The style of the report: readable on a phone, on a screen, in the dark and on paper.
import { PALETTES, paletteCss } from './names.ts';

const LIGHT = `--ink: #1f2933; --soft: #52606d; --paper: #fff; --ground: #f6f8fa; --line: #dde3e9; --amber: #d9a400; --amber-ground: #fff8e1;
--red: #b3261e; ${paletteCss(PALETTES.light)}`;
const DARK = `--ink: #e4e9ee; --soft: #a9b4bf; --paper: #1b2128; --ground: #12161b; --line: #38424d; --amber: #d9a400; --amber-ground: #332b12;
--red: #ff8a80; ${paletteCss(PALETTES.dark)}`;

/** Below this width of the page charts are drawn for phones. */
const PHONE = '(max-width: 640px)';

export const REPORT_STYLE = `
:root { color-scheme: light dark; ${LIGHT} }
@media screen and (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
main { max-width: 1060px; margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; line-height: 1.25; margin: 8px 0; } h2 { font-size: 19px; margin: 0 0 8px; } h3 { font-size: 14px; margin: 18px 0 6px; color: var(--soft); font-weight: 600; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 20px 24px; margin: 20px 0; }
figure { margin: 0 auto; max-width: 900px; } figure svg { display: block; width: 100%; height: auto; } .narrow { display: none; }
ul { padding-left: 20px; } li { margin: 4px 0; } a { color: inherit; }
.caveat { border-left: 4px solid var(--amber); background: var(--amber-ground); padding: 8px 14px; margin: 12px 0; } .warning { border-color: var(--red); }
.failed { border-color: var(--red); } .words { color: var(--soft); margin: 6px 0; }
.legend { margin: 10px 0; } .legend > span { display: inline-block; margin-right: 20px; } .key { white-space: nowrap; } i.mark { font-style: normal; font-size: 13px; }
table { overflow-wrap: normal; border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; } th, td { text-align: left; padding: 5px 8px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-size: 13px; color: var(--soft); } .n { text-align: right; } small { color: var(--soft); font-size: 13px; } .spread { display: block; }
.scroll { overflow-x: auto; } .all { font-size: 13px; } .all th, .all td { padding: 5px; } .all th { font-size: 12px; } .all td:first-child, .all th:first-child { position: sticky; left: 0; background: var(--paper); }
@media ${PHONE} {
  main { padding: 12px; } section { padding: 14px 12px; margin: 14px 0; } h1 { font-size: 22px; }
  .wide { display: none; } .narrow { display: block; }
}
@media print {
  @page { margin: 12mm; }
  body { background: none; font-size: 12px; } main { max-width: none; padding: 0; } section { border: 0; padding: 0; margin: 16px 0; }
  .wide { display: block; } .narrow { display: none; }
  h2, h2 + .words, h3, .legend { break-after: avoid; } figure, tr, .caveat { break-inside: avoid; } thead { display: table-header-group; }
  .scroll { overflow: visible; } .all { font-size: 9.5px; } .all th { font-size: 9.5px; white-space: normal; vertical-align: bottom; } .all th, .all td { padding: 2px 3px; }
  .all td:first-child, .all th:first-child { position: static; } small { font-size: 10px; }
}
`;
