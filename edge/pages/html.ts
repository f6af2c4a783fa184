/**
 * Parts of pages as templates of hono/html, which escapes every value that is not HTML already, and omits false and
 * null.
 */
import { html, raw } from 'hono/html'

export { html }

export type Html = ReturnType<typeof html>

// -- Parts that a script makes too ----------------------------------------------------------------------------------

type Attributes = Readonly<Record<string, string | number>>

/**
 * An element as data: its name, its attributes and its content. The server writes it as HTML, and a script makes it
 * without parsing any (client/page.ts). `Raw` is HTML that the server alone can put into an element.
 */
export type Part<Raw = never> = string | Raw | readonly [name: string, attributes: Attributes, ...content: Part<Raw>[]]
export type Tag<Raw = never> = readonly [name: string, attributes: Attributes, ...content: Part<Raw>[]]

export function htmlOf([name, attributes, ...content]: Tag<Html>): Html {
  const written = Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)
  const parts = content.map((part) => (Array.isArray(part) ? htmlOf(part as unknown as Tag<Html>) : part))
  return name === 'input' ? html`<input${written}>` : html`<${name}${written}>${parts}</${name}>`
}

// -- Parts of the server alone --------------------------------------------------------------------------------------

export const hidden = (isHidden: boolean) => isHidden && html`hidden`

/** Texts for the script, as data attributes of the element that will show them. */
export const texts = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(
    ([name, text]) => html` data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}="${text}"`,
  )

/** The start of a page with little text. */
export const heading = (title: string | readonly (Html | string | false)[], text: string | Html) =>
  html`<h1 tabindex="-1">${title}</h1>
    <p class="lead">${text}</p>`

export const buttonTo = (path: string, label: string, more?: 'wide') =>
  html`<a class="button${more && ` ${more}`}" href="${path}">${label}</a>`

/** Data in a script element. No text in the data can end the element. */
export const jsonInScript = (data: unknown) => raw(JSON.stringify(data).replaceAll('<', '\\u003c'))

/** A form that the script sends only once at a time. Without an action it is sent to the address of its page. */
export const postForm = (action: string | null, fields: Html, id?: string) =>
  html`<form method="post" ${action !== null && html`action="${action}"`} ${
    id !== undefined && html`id="${id}"`
  } class="once">${fields}</form>`

/** The form of a turn, which the buttons for other languages send as well, so that it keeps what was entered. */
export const TURN_FORM = 'turn-form'

/**
 * Icons of 24 by 24 units, drawn with lines. They are decorative, because the words next to them have the same
 * meaning.
 */
const ICONS = {
  bag: 'M5 8.5h14l1 12H4ZM8.5 8.5V7a3.5 3.5 0 0 1 7 0v1.5',
  bell: 'M6.5 17V11a5.5 5.5 0 0 1 11 0v6l1.5 1.5H5ZM10 21h4M12 3v2.5',
  calendar:
    'M6 5h12a2.5 2.5 0 0 1 2.5 2.5V18a2.5 2.5 0 0 1-2.5 2.5H6A2.5 2.5 0 0 1 3.5 18V7.5A2.5 2.5 0 0 1 6 5ZM3.5 ' +
    '10h17M8 2.8V6.5M16 2.8V6.5',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  cross: 'm6.5 6.5 11 11m0-11-11 11',
  copy:
    'M11 8.5h7a2.5 2.5 0 0 1 2.5 2.5v7a2.5 2.5 0 0 1-2.5 2.5h-7A2.5 2.5 0 0 1 8.5 18v-7A2.5 2.5 0 0 1 11 ' +
    '8.5ZM15.5 5.5v-2h-12v12h2',
  minus: 'M5 12h14',
  plus: 'M5 12h14M12 5v14',
  search: 'M17.5 11a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0Zm-1.5 5 4.5 4.5',
  warning: 'M12 3.5 21.5 20h-19ZM12 9.5v5M12 17v.5',
  share: 'M12 15V3.5M7.5 7.5 12 3l4.5 4.5M5 12.5v7h14v-7',
} as const

export const icon = (name: keyof typeof ICONS) =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`
