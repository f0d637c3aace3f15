// Pieces of HTML that every report is made of.
import { type Shape, SHAPES } from './chart-panels.ts';

/** The chart in each of its shapes; the style shows the one that fits. */
export function figure(draw: (shape: Shape) => string, description: string): string {
  const drawn = SHAPES.map((shape) => `<div class="${shape.name}">${draw(shape)}</div>`);
  return `<figure role="img" aria-label="${escape(description)}">${drawn.join('')}</figure>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as HTML, for content and for quoted attributes. */
export function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
}
