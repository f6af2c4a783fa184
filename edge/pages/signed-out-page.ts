/** The page after a sign-out, and the form that leads to it. */
import { buttonTo, type Html, heading, html } from './html.ts'
import type { Content } from './view.ts'
import type { Words } from './words/words.ts'

export function signedOutContent(words: Words, signInUrl: string): Pick<Content, 'title' | 'main'> {
  const [title, text] = words.problems['signed-out']
  const main = html`<section class="stack says">${heading(title, text)}
    <p class="actions">${buttonTo(signInUrl, words.signIn)}</p></section>`
  return { title, main }
}

/** The form loads a page of its own, so its class is not one that a script answers in place. */
export const signOutForm = (path: string, words: Words): Html =>
  html`<form method="post" action="${path}" class="sign-out"><button class="link">${words.signOut}</button></form>`
