/** The form to join: the requirements for all visitors, the code of an invitation, and the proofs against bots. */
import { PHASES } from '../../../shared/api/public.ts'
import { buttonTo, type Html, html, postForm } from '../html.ts'
import { faultOf } from '../parts/fault.ts'
import { DURING } from '../parts/moments.ts'
import { signOutForm } from '../signed-out-page.ts'
import type { PageContext, SaleView } from '../view.ts'
import type { Language, Words } from '../words/words.ts'

/** The phases in which a page that has a form shows it. A page for one visitor has a form to join again. */
const SHOWN = { earlier: ['upcoming'], lobby: ['pre_queue'], line: DURING, again: PHASES } as const
type Where = keyof typeof SHOWN

export function joinForm(context: PageContext, where: Where, label: string): Html {
  const { view, words, lang } = context
  const second = asksToSignIn(view) && 'second'
  const isShown = SHOWN[where].some((phase) => phase === view.schedule.phase)
  const fields = html`${invitationField(context, where, isShown)}${proofFields(view, words, lang)}${
    isShown && refusalOf(context)
  }<button class="button wide ${second}">${label}</button>`
  return html`${accessNotes(context)}${postForm(`/sales/${view.sale}/queue`, fields)}`
}

/** The reason why the form did not lead to a place, unless a field of it shows the reason. */
function refusalOf({ view, words }: PageContext): Html | false {
  const { refusal, invitation } = view
  if (!refusal || invitation?.fault) return false
  return faultOf(refusal, words)
}

/** A code is typed or comes by a link. A signed code is long, and is pasted. */
function invitationField({ view, words }: PageContext, where: Where, isShown: boolean): Html | undefined {
  const { invites, othersInvite, invitation } = view
  if (!invites && !othersInvite) return
  const { code = '', fault = null } = invitation ?? {}
  const id = `invitation-fault-${where}`
  return html`<label class="field">${invites ? words.invitation : words.invitationIfAny}
    <input name="invitation" ${invites && html`required`} minlength="4" maxlength="1000" ${
      code !== '' && html`value="${code}"`
    } autocomplete="off" autocapitalize="characters" spellcheck="false" ${
      fault && html`aria-invalid="true" aria-describedby="${id}" ${isShown && html`autofocus`}`
    }></label>
    ${fault && html`<p class="fault" id="${id}">${words.invitationFaults[fault]}</p>`}`
}

/** True if the visitor must sign in first, as far as the page knows. */
const asksToSignIn = ({ signIn, signedInAs }: SaleView) => typeof signIn === 'string' && signedInAs === undefined

/** The requirements for all visitors, which are shown before they wait. */
export const accessNotes = ({ view, words }: PageContext) =>
  html`${signInNote(view, words)}${view.invites && html`<p class="quiet">${words.invitationNeeded}</p>`}`

/** The proofs of the form: ALTCHA's widget runs when the form is sent, and Turnstile's when it becomes visible. */
function proofFields(
  { challenge, turnstile }: Pick<SaleView, 'challenge' | 'turnstile'>,
  words: Words,
  lang: Language,
): Html | false {
  const widget =
    challenge !== undefined &&
    html`<altcha-widget name="altcha" auto="onsubmit" challenge="${challenge}" language="${lang}"></altcha-widget>`
  const box =
    turnstile !== undefined &&
    html`<turnstile-widget data-sitekey="${turnstile}" data-away="${words.checkAway}"></turnstile-widget>`
  return (widget || box) && html`${widget}${box}<noscript><p>${words.proofNeedsScript}</p></noscript>`
}

/** The page that is the same for all visitors does not know who is signed in. */
function signInNote({ signIn, othersSignIn, signedInAs, signOut }: SaleView, words: Words): Html | false {
  if (signedInAs !== undefined) {
    const note = signedInAs === '' ? words.signedIn : html`${words.signedInAs} <b><bdi>${signedInAs}</bdi></b>`
    return html`<p class="quiet">${note}</p>${signOut !== undefined && signOutForm(signOut, words)}`
  }
  if (signIn !== undefined)
    return html`<p class="quiet">${words.signInNeeded}</p>${signIn !== null && buttonTo(signIn, words.signIn, 'wide')}`
  if (othersSignIn === undefined) return false
  return html`<p class="quiet">${words.signInForLine} ${
    othersSignIn !== null && html`${words.notSignedIn} <a href="${othersSignIn}">${words.signIn}</a>`
  }</p>`
}

/**
 * This page is the same for all visitors, so it does not know who has a place. The script redirects them to their own
 * page.
 */
export const toOwnPlace = ({ view, words }: PageContext) =>
  html`<a href="/sales/${view.sale}/line">${words.toOwnPlace}</a>`
