/** HTML by tagged template: every value is escaped, unless it is HTML already. */

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = Html | string | number | null | undefined | false | readonly Value[]

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, i) => text + render(values[i - 1]) + part))
}

function render(value: Value): string {
  if (value instanceof Html) return value.text
  if (value === null || value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(render).join('')
  return String(value).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
}

export const hidden = (isHidden: boolean) => isHidden && html`hidden`

/** Texts for the script, as data attributes of the element that will show them. */
export const texts = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(
    ([name, text]) => html` data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}="${text}"`,
  )

/** What a card starts with. */
export const heading = (title: Value, text: Value) =>
  html`<h1 tabindex="-1">${title}</h1>
    <p class="lead">${text}</p>`

export const buttonTo = (path: string, label: string) => html`<a class="button" href="${path}">${label}</a>`

/** A form that the script sends only once at a time. */
export const postForm = (action: string, fields: Value) =>
  html`<form method="post" action="${action}" class="once">${fields}</form>`
