// What the pages of all reports are made of.
import { escape } from '../kit/html.ts';
import type { Provider } from '../kit/dimensions.ts';
import { type Shape, SHAPES } from './chart-panels.ts';
import { colourOf, type ReportLayout, SYMBOL_CHARACTERS } from './names.ts';
import { REPORT_STYLE } from './style.ts';

/** The series' colour and symbol, as in the charts. */
export function mark(provider: Provider, layout: ReportLayout): string {
  return `<i class="mark" style="color:${colourOf(provider, layout)}" aria-hidden="true">${SYMBOL_CHARACTERS[layout]}</i>`;
}

/** The chart in each of its shapes; the style shows the one that fits. */
export function figure(draw: (shape: Shape) => string, description: string): string {
  const drawn = SHAPES.map((shape) => `<div class="${shape.name}">${draw(shape)}</div>`);
  return `<figure role="img" aria-label="${escape(description)}">${drawn.join('')}</figure>`;
}

/** A whole page around its body. */
export function page(title: string, body: string, style: string = REPORT_STYLE): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body><main>
${body}
</main></body>
</html>
`;
}
