// Parts of all reports' pages: the page, a layout's mark, what is folded.
import { escape } from '../kit/html.ts';
import type { Layout, Provider } from '../kit/dimensions.ts';
import { PROVIDER_COLOURS, SYMBOL_CHARACTERS } from './names.ts';
import { REPORT_STYLE } from './style.ts';

/** A layout's symbol in its provider's colour, as in the picture. */
export function mark(provider: Provider, layout: Layout): string {
  return `<i class="mark" style="color:${PROVIDER_COLOURS[provider]}" aria-hidden="true">${SYMBOL_CHARACTERS[layout]}</i>`;
}

/** A whole page around its body; `style` is the page's own, beside that of all reports. */
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

/** HTML that shows when its summary is asked. */
export function folded(summary: string, html: string): string {
  return `<details><summary>${escape(summary)}</summary>${html}</details>`;
}
