// Text as HTML.
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
}
