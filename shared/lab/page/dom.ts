// Elements of the page. Text is never parsed as HTML.

/** `attributes` are set as they would stand in HTML; false leaves one out. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | boolean>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== false) made.setAttribute(attribute, value === true ? '' : value);
  made.append(...children);
  return made;
}

export function byId(id: string): HTMLElement {
  return document.getElementById(id)!;
}

/** Shows the text, or hides the element where there is none. */
export function say(id: string, text: string): void {
  byId(id).textContent = text;
  byId(id).hidden = text === '';
}
