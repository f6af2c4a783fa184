/** The shop front, which is the same for all visitors. No cookie is read here except the language of a link. */
import { CACHE_TTL, cacheTimes } from '../http/cache.ts'
import { type Call, etagOf, hostOf, sendTagged, wantsJson } from '../http/call.ts'
import { script, style } from '../pages/assets.ts'
import { logoPath } from '../pages/brand.ts'
import type { Arranged, FrontSale, FrontView } from '../pages/front/front-page.ts'
import type { Told } from '../pages/front/told.ts'
import { renderFront } from '../pages/index.ts'
import { PAGE_HEADERS } from '../view/respond.ts'
import { type ChosenLanguage, keepLanguage, sharedLanguage } from '../visitor/language.ts'
import { indexPath } from './front-index.ts'
import { arrange, type Front, frontNow } from './listing.ts'

/** The route `GET /`: the page, or a list for clients that request JSON. */
export async function showFront(call: Call): Promise<Response> {
  const front = await frontNow(call)
  const arranged = arrange(front, call.nowMs)
  const isJson = wantsJson(call.request)
  const language = sharedLanguage(call)
  if (!isJson) keepLanguage(call)
  const view = frontView(front, call, language)
  const make = isJson ? () => JSON.stringify(listOf(arranged)) : () => renderFront({ ...view, ...arranged })
  // The page's clock changes even if no data change.
  const shown = [isJson, arranged, language, view.brand, view.host, script.path, style.path]
  const etag = `W/${await etagOf(new TextEncoder().encode(JSON.stringify(shown)))}`
  const headers = {
    ...(isJson ? { 'content-type': 'application/json' } : PAGE_HEADERS),
    vary: PAGE_HEADERS.vary,
    etag,
    ...cacheTimes(CACHE_TTL.front),
  }
  return sendTagged(call.request, headers, make)
}

function listOf({ now, soon, over }: Arranged) {
  const toJson = ({ sale, name, image, ...now }: FrontSale) => ({
    sale,
    name,
    ...(image && { image: image.url }),
    ...toldOf(now),
  })
  return { sales: [...now, ...soon, ...over].map(toJson) }
}

/** State and price of a sale as programs read them, and the search while a visitor types. */
export const toldOf = ({ phase, opens_at, price_from_minor, currency, prices_differ, left }: Told): Told => ({
  phase,
  opens_at,
  price_from_minor,
  currency,
  prices_differ,
  left,
})

/** The data that the front and its search share. */
export function frontView(front: Front, call: Call, { lang, isChosen }: ChosenLanguage): FrontView {
  const { config, nowMs } = call
  const words = config.WORDS[lang]
  const { name, legal, logo, sheet } = config.brand
  const { shop, logo: ofShop } = front.catalogue.sales.find((sale) => sale.shop !== null) ?? {}
  const own = name === null ? ofShop && logoPath(ofShop.url, { widths: ofShop.widths ?? [] }) : undefined
  return {
    lang,
    choseLanguage: isChosen,
    words,
    nowMs,
    host: hostOf(call),
    brand: { name: name ?? shop ?? words.front.shop, logo: logo ?? own, sheet, legal },
    indexPath: indexPath(front),
    hasAccounts: config.shop !== null,
  }
}
