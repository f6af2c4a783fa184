/**
 * The page's second script contains everything that can wait for a second. The first script loads it after its own
 * start, and passes it the page's state twice a second.
 */

import { each, loadStored, type Page, type PageState, store, type Tools } from '../page.ts'
import { showPush } from '../push/push-offer.ts'
import { showAnnouncement, showPauseReason } from './announcement.ts'
import { rememberCommitment, showDraw } from './draw-check.ts'
import { noticeTurn } from './notices.ts'
import { checkOwnOrder, showOrderButtons } from './orders.ts'
import { showFeed } from './posts.ts'
import { showOutlook, showWay } from './queue-comb.ts'
import { fillSource } from './source.ts'
import { showStock } from './stock.ts'
import { loadTurnScripts } from './turn-scripts.ts'

export function show(state: PageState, tools: Tools): void {
  const { schedule, page, place, atMs } = state
  // Before another page may be loaded, whose address has no campaign.
  fillSource()
  openChosenLanguage(page)
  showAnnouncement(schedule, page, atMs)
  showFeed(schedule, page)
  showPauseReason(schedule, page, tools)
  rememberCommitment(page)
  showDraw(schedule, page, place, tools)
  showOutlook(state)
  showWay(state)
  noticeTurn(state)
  void showPush(page)
  loadTurnScripts()
  showOrderButtons()
  void showStock(schedule, page)
  void checkOwnOrder(state, tools)
  each('[data-print]', (button) => {
    button.onclick = () => print()
  })
}

const LANGUAGE_KEY = 'language'
let isLanguageOpen = false

/**
 * The page that is the same for all visitors depends on no cookie, so it does not know the chosen language. This
 * browser stores the language, and requests the page under its address for that language.
 */
function openChosenLanguage({ isOwn, home, lang }: Page): void {
  if (isLanguageOpen) return
  isLanguageOpen = true
  const chosen = new URLSearchParams(location.search).get('lang')
  const before = loadStored(LANGUAGE_KEY)
  if (chosen) store(LANGUAGE_KEY, chosen)
  else if (!isOwn && before && before !== lang && document.querySelector('#landing, #final'))
    location.replace(`${home}?lang=${before}`)
}
