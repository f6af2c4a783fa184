/**
 * The page that is the same for all visitors depends on no cookie, so it does not know the chosen language. This
 * browser stores the language, and requests the page under its address for that language.
 */
import { byId, type Page, store, stored } from '../page.ts'

const KEY = 'language'
let isDone = false

export function keepLanguage({ isOwn, home }: Page): void {
  if (isDone) return
  isDone = true
  const chosen = new URLSearchParams(location.search).get('lang')
  const before = stored(KEY)
  const isShared = !isOwn && (byId('landing') ?? byId('final')) !== null
  if (chosen !== null) store(KEY, chosen)
  else if (isShared && before !== null && before !== document.documentElement.lang)
    location.replace(`${home}?lang=${before}`)
}
