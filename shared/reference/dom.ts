/** Makes elements. Texts of the document become text nodes, and so never markup. */

type Child = Node | string | null
type Attributes = Readonly<Record<string, string | boolean | undefined>>

export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value)
  element.append(...children.filter((child) => child !== null))
  return element
}

/** Paragraphs of a text in markdown, of which `code` is all that the documents use. */
export function prose(text: string | undefined): HTMLElement[] {
  if (!text) return []
  return text.split('\n\n').map((paragraph) => el('p', {}, ...inline(paragraph)))
}

/** The same for a text in one line. */
export const inline = (text = ''): (Node | string)[] =>
  text.split('`').map((part, i) => (i % 2 === 1 ? el('code', {}, part) : part))

/** A block of code that can be scrolled by keyboard, too. */
export function codeBlock(text: string, label: string): HTMLElement {
  return el('pre', { tabindex: '0', 'aria-label': label, role: 'region' }, el('code', {}, text))
}

/** Details whose content is made when they are first opened, since a document describes thousands of fields. */
export function later(
  attributes: Attributes,
  summary: readonly Child[],
  make: () => readonly Child[],
): HTMLDetailsElement {
  const details = el('details', attributes, el('summary', {}, ...summary))
  details.addEventListener('toggle', () => details.append(...make().filter((child) => child !== null)), { once: true })
  return details
}

export const pretty = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
