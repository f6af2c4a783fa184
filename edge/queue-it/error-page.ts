/** The page that explains why the shop did not take a visitor's token, and what helps. */
import { type Call, refuse } from '../http/call.ts'
import { buttonTo, heading, html } from '../pages/html.ts'
import { renderSale } from '../pages/index.ts'
import type { Content, PageContext } from '../pages/view.ts'
import { publicNow } from '../queue/sale-now.ts'
import { ownHeadersOf, viewOf } from '../view/respond.ts'
import { keepLanguage } from '../visitor/language.ts'
import { startOf } from './target.ts'
import { customersOf } from './visit.ts'

/** The visitor did not come from the shop, or too late. */
export const FROM_SHOP = 'enqueuetoken'
/** The words for each cause, as connectors name it. */
const CAUSES = {
  timestamp: 'late',
  ip: 'moved',
  sessionstate: 'moved',
  qidlimit: 'used',
  hash: 'unread',
  eventid: 'unread',
  [FROM_SHOP]: 'fromShop',
} as const
type Cause = keyof typeof CAUSES

export const isCause = (text: string): text is Cause => Object.hasOwn(CAUSES, text)

/** The route `GET /sales/{sale}/shop-error/{cause}`. */
export async function shopError(sale: string, cause: string, call: Call): Promise<Response> {
  const [shop] = customersOf(sale, call)
  if (!shop || !isCause(cause)) return refuse('not-found')
  keepLanguage(call)
  const again = cause === FROM_SHOP ? startOf(shop) : cause === 'qidlimit' ? `/sales/${sale}` : `/sales/${sale}/line`
  const path = `/sales/${sale}/shop-error/${cause}`
  const content = (context: PageContext) => explanation(context, cause, again)
  const view = await viewOf(await publicNow(sale, call), null, { kind: 'added', path, content }, call)
  return new Response(renderSale(view), { headers: ownHeadersOf(view) })
}

function explanation({ words }: PageContext, cause: Cause, again: string): Content {
  const [title, text] = words.shopErrors[CAUSES[cause]]
  const main = html`<section class="stack says">
    ${heading(title, text)}
    <div class="row actions">${buttonTo(again, words.tryAgain)}</div>
    <p class="small quiet"><code>${cause}</code></p>
  </section>`
  return { title, main, reloadSeconds: null }
}
