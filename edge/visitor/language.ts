/**
 * The language of a response: the one that the visitor chose by a link (`?lang=de`), which a cookie keeps, or else the best
 * of those that their browser asks for. What caches keep for everyone depends on the browser's header alone, which its `Vary`
 * names, and on the address: a page with `?lang=` sets the cookie, and so no cache keeps it.
 */
import { preferred } from '../../shared/format.ts'
import { type Call, wantsHtml } from '../call.ts'
import { LANGUAGES, type Language } from '../pages/words/words.ts'
import { LANGUAGE_COOKIE, readCookie, setCookie } from './cookies.ts'

export interface ChosenLanguage {
  readonly lang: Language
  /** By the visitor, whatever their browser asks for. */
  readonly isChosen: boolean
}

const YEAR_SECONDS = 365 * 24 * 3600

/** Of a page that is the same for all: it must not depend on a cookie. */
export function sharedLanguage(call: Call): ChosenLanguage {
  const chosen = inAddress(call)
  return chosen ? { lang: chosen, isChosen: true } : { lang: asked(call), isChosen: false }
}

/** Of any other response. */
export function languageOf(call: Call): ChosenLanguage {
  const chosen = inAddress(call) ?? known(readCookie(LANGUAGE_COOKIE, call))
  return chosen ? { lang: chosen, isChosen: true } : { lang: asked(call), isChosen: false }
}

/** Keeps the language of the address for the pages to come. */
export function keepLanguage(call: Call): void {
  const chosen = inAddress(call)
  if (chosen && wantsHtml(call.request)) setCookie(LANGUAGE_COOKIE, chosen, YEAR_SECONDS, call)
}

const known = (name: string | null) => LANGUAGES.find((lang) => lang === name)

const inAddress = ({ request: { url } }: Call) =>
  url.includes('lang=') ? known(new URL(url).searchParams.get('lang')) : undefined

const asked = ({ request }: Call) => preferred(LANGUAGES, request.headers.get('accept-language') ?? '') ?? 'en'
