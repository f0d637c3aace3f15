// Parts of all reports' pages: the page, pictures in their captions.
import { escape } from '../kit/html.ts';
import type { Layout, Provider } from '../kit/dimensions.ts';
import { type Shape, SHAPES } from './chart-parts.ts';
import { colourOf, SYMBOL_CHARACTERS } from './names.ts';
import { REPORT_STYLE } from './style.ts';

/** A layout's colour and symbol, as in the picture. */
export function mark(provider: Provider, layout: Layout): string {
  return `<i class="mark" style="color:${colourOf(provider, layout)}" aria-hidden="true">${SYMBOL_CHARACTERS[layout]}</i>`;
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

interface Captioned {
  readonly title: string;
  readonly key: string;
  /** HTML after the key: the meaning of the symbols. */
  readonly keys?: readonly string[];
  /** For whoever does not see it. */
  readonly words: string;
  readonly draw: (shape: Shape) => string;
}

/** In each shape; the style shows the one that fits. */
export function captioned({ title, key, keys = [], words, draw }: Captioned): string {
  const drawn = SHAPES.map((shape) => `<div class="${shape.name}" aria-hidden="true">${draw(shape)}</div>`);
  const marks = keys.map((one) => ` <span class="key">${one}</span>`);
  return `<figure><figcaption><b>${escape(title)}</b> ${escape(key)}${marks.join('')}</figcaption>
<div role="img" aria-label="${escape(words)}">${drawn.join('')}</div></figure>`;
}

/** HTML that shows when its summary is asked. */
export function folded(summary: string, html: string): string {
  return `<details><summary>${escape(summary)}</summary>${html}</details>`;
}
