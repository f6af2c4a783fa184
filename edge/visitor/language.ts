/**
 * The language of a response. It is the one that the visitor chose by a link (`?lang=de`), which a cookie stores, or
 * otherwise the best of those that their browser accepts. A cached page depends only on the browser's header, which
 * its `Vary` names, and on the address; a page with `?lang=` sets the cookie, so no cache stores it.
 */
import { preferredLanguage } from '../../shared/format.ts'
import { type Call, wantsHtml } from '../http/call.ts'
import { LANGUAGES, type Language } from '../pages/words/words.ts'
import { LANGUAGE_COOKIE, readCookie, setCookie } from './cookies.ts'

export interface ChosenLanguage {
  readonly lang: Language
  /** True if the visitor chose the language instead of the browser. */
  readonly isChosen: boolean
}

const YEAR_SECONDS = 365 * 24 * 3600

/** The language of a page that is the same for all visitors, which must not depend on a cookie. */
export function sharedLanguage(call: Call): ChosenLanguage {
  const chosen = inAddress(call)
  return chosen ? { lang: chosen, isChosen: true } : { lang: acceptedLanguage(call), isChosen: false }
}

/** The language of any other response. */
export function languageOf(call: Call): ChosenLanguage {
  const chosen = inAddress(call) ?? languageNamed(readCookie(LANGUAGE_COOKIE, call))
  return chosen ? { lang: chosen, isChosen: true } : { lang: acceptedLanguage(call), isChosen: false }
}

/** Stores the language of the address in a cookie for later pages. */
export function keepLanguage(call: Call): void {
  const chosen = inAddress(call)
  if (chosen && wantsHtml(call.request)) setCookie(LANGUAGE_COOKIE, chosen, YEAR_SECONDS, call)
}

/** A redirect to a page of ours keeps the language of the address from which it leads. */
export function keepInRedirect(response: Response, call: Call): void {
  const chosen = response.status === 303 && inAddress(call)
  const to = response.headers.get('location') ?? ''
  if (chosen && to.startsWith('/sales/') && !to.includes('lang='))
    response.headers.set('location', `${to}${to.includes('?') ? '&' : '?'}lang=${chosen}`)
}

const languageNamed = (name: string | null) => LANGUAGES.find((lang) => lang === name)

const inAddress = ({ request: { url } }: Call) =>
  url.includes('lang=') ? languageNamed(new URL(url).searchParams.get('lang')) : undefined

const acceptedLanguage = ({ request }: Call) =>
  preferredLanguage(LANGUAGES, request.headers.get('accept-language') ?? '') ?? 'en'
