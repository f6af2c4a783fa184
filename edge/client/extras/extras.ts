/**
 * The page's second script contains everything that can wait for a second. The first script loads it after its own
 * start, and passes it the page's state twice a second.
 */

import { each } from '../page.ts'
import { showAnnouncement, showPauseReason } from './announcement.ts'
import { rememberCommitment, showDraw } from './draw-check.ts'
import { showHall } from './hall.ts'
import { keepLanguage } from './language.ts'
import { noticeTurn } from './notices.ts'
import { showOrderButtons } from './order-buttons.ts'
import { checkOwnOrder } from './own-order.ts'
import type { PageState, Tools } from './page-state.ts'
import { showFeed } from './posts.ts'
import { showPush } from './push.ts'
import { showStock } from './stock.ts'
import { showOutlook } from './stock-outlook.ts'
import { showTurnForm } from './turn-form.ts'
import { showWay } from './way.ts'

export function show(state: PageState, tools: Tools): void {
  const { schedule, page, place } = state
  keepLanguage(page)
  showAnnouncement(schedule, page)
  showFeed(schedule, page)
  showPauseReason(schedule, page, tools)
  rememberCommitment(page)
  showDraw(schedule, page, place, tools)
  showOutlook(state)
  showWay(state)
  noticeTurn(state)
  void showPush(page)
  showHall()
  showTurnForm()
  showOrderButtons()
  void showStock(schedule, page)
  void checkOwnOrder(state, tools)
  each('[data-print]', (button) => {
    button.onclick = () => print()
  })
}
