/** Parts of pages as templates of hono/html, which escapes every value that is not HTML already and leaves out what is false or null. */
import { html } from 'hono/html'

export { html }

export type Html = ReturnType<typeof html>

export const hidden = (isHidden: boolean) => isHidden && html`hidden`

/** Texts for the script, as data attributes of the element that will show them. */
export const texts = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(
    ([name, text]) => html` data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}="${text}"`,
  )

/** What a card starts with. */
export const heading = (title: string | readonly (Html | string | false)[], text: string | Html) =>
  html`<h1 tabindex="-1">${title}</h1>
    <p class="lead">${text}</p>`

export const buttonTo = (path: string, label: string) => html`<a class="button" href="${path}">${label}</a>`

/** A form that the script sends only once at a time. */
export const postForm = (action: string, fields: Html) =>
  html`<form method="post" action="${action}" class="once">${fields}</form>`
