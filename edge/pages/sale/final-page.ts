/** The page of a sale that is over: sold out, or ended. */
import { buttonTo, type Html, heading, html } from '../html.ts'
import { drawPanel } from '../line/draw-panel.ts'
import { mailForm, pushSwitch } from '../mail-pages.ts'
import { addedSections, type Content, frontOf, type PageContext } from '../view.ts'
import { thumbnail } from './gallery.ts'
import { aboutSale } from './sold.ts'

/** The page is the same for everyone, so that a cache can serve it. */
export function finalPage(context: PageContext, phase: 'sold_out' | 'ended'): Content {
  const { view, words } = context
  const [title, text] = phase === 'sold_out' ? [words.soldOut, words.soldOutText] : [words.ended, words.endedText]
  const main = html`<section class="stack says" id="final">
    <div class="sale">${thumbnail(view)}<p><b><bdi>${view.state.name}</bdi></b></p></div>
    ${heading(title, text)}
    ${phase === 'ended' && toSite(context)}
    ${phase === 'sold_out' && view.state.mails.includes('restocked') && restockForm(context)}
    ${phase === 'sold_out' && pushSwitch(context, ['restocked'])}
    ${toFront(context)}
  </section>
  ${aboutSale(context)}
  ${addedSections(context)}
  ${drawPanel(context)}`
  return { title, main, reloadSeconds: 60, named: true }
}

/** The form requests one mail if more stock becomes available. */
function restockForm(context: PageContext): Html {
  const [title, text] = context.words.restock
  return html`<details class="panel"><summary>${title}</summary><p class="quiet"
    id="restock">${text}</p>${mailForm(context, title)}</details>`
}

/**
 * After the sale the protected site is open to all. The link is the same for all visitors, because a cookie contains
 * the page that a visitor requested.
 */
export const toSite = ({ view, words }: PageContext) =>
  view.protects && html`<p>${buttonTo(`/sales/${view.sale}/wanted`, words.toSite)}</p>`

/** The link from a sale that is over to what else is on. */
export function toFront({ view, words }: PageContext): Html | false {
  const front = frontOf(view)
  return front !== null && html`<p><a class="button second" href="${front}">${words.front.toFront}</a></p>`
}

/** The link to the form that asks for a mail about a restock, on the page that is the same for all. */
export const toRestock = ({ view, words }: PageContext) =>
  view.state.mails.includes('restocked') &&
  html`<p><a class="button" href="/sales/${view.sale}#restock">${words.restock[0]}</a></p>`
