// Parts of all reports' pages.
import { type Column, escape } from '../kit/html.ts';
import type { Layout, Provider } from '../kit/dimensions.ts';
import { colourOf, SYMBOL_CHARACTERS } from './names.ts';
import { REPORT_STYLE } from './style.ts';

export function mark(provider: Provider, layout: Layout): string {
  return `<i class="mark" style="color:${colourOf(provider, layout)}" aria-hidden="true">${SYMBOL_CHARACTERS[layout]}</i>`;
}

/** `style` is the page's own, beside that of all reports. */
export function page(title: string, body: string, style = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}</title>
<style>${REPORT_STYLE}${style}</style>
</head>
<body><main>
${body}
</main></body>
</html>
`;
}

/** Columns of text, then of numbers. */
export function columnsOf(texts: readonly string[], numbers: readonly string[]): Column[] {
  return [...texts.map((title) => ({ title })), ...numbers.map((title) => ({ title, isNumber: true }))];
}

export function folded(summary: string, html: string): string {
  return `<details><summary>${escape(summary)}</summary>${html}</details>`;
}

/** A box with a heading and a line or a list; nothing without lines. */
export function noteHtml(title: string, lines: readonly string[], kind: 'fact' | 'warning'): string {
  if (lines.length === 0) return '';
  const items = lines.map((line) => `<li>${escape(line)}</li>`);
  const body = lines.length === 1 ? ` ${escape(lines[0]!)}` : `<ul>${items.join('')}</ul>`;
  return `<div class="note ${kind}"><b>${escape(title)}.</b>${body}</div>`;
}
